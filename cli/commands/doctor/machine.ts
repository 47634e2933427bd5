/**
 * Finds the GPUs of a machine on its PCI bus, without a driver.
 *
 * @module
 */

/** A device of the PCI bus, as Linux writes its numbers. */
export interface PciDevice {
  readonly vendor: string;
  readonly kind: string;
}

/** What of a machine decides which backends are for it. */
export interface Machine {
  readonly os: string;
  /** What is on its bus; nothing where that cannot be told. */
  devices(): readonly PciDevice[] | undefined;
}

/** This machine. */
export const thisMachine: Machine = { os: Deno.build.os, devices: listed };

/** Lists vendor and class of each device; nothing under Windows, whose GPUs are not on it. */
const LIST = `[ -e /dev/dxg ] && exit
for d in /sys/bus/pci/devices/*; do echo $(cat $d/vendor $d/class); done`;

/** By a shell, as Deno itself reads below /sys with all permissions only. */
function listed(): readonly PciDevice[] | undefined {
  if (Deno.build.os !== "linux") return undefined;
  let text: string;
  try {
    const { stdout } = new Deno.Command("sh", {
      args: ["-c", LIST],
      stderr: "null",
    }).outputSync();
    text = new TextDecoder().decode(stdout);
  } catch (error) {
    // Without a shell nothing is known.
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const lines = text.split("\n").map((line) => line.split(" "))
    .filter(({ length }) => length === 2);
  if (lines.length === 0) return undefined;
  return lines.map(([vendor, kind]) => ({ vendor: vendor!, kind: kind! }));
}

/** PCI's classes of displays and of processing accelerators. */
const GPU_CLASSES = /^0x(03|12)/;
/** Vendors of GPUs by backend, and how PCI numbers them. */
const VENDORS: Readonly<Record<string, readonly [name: string, id: string]>> = {
  cuda: ["NVIDIA", "0x10de"],
  hip: ["AMD", "0x1002"],
};

/**
 * Why `backend` is not for `machine`, such as another operating system; nothing where it
 * is, and where that cannot be told.
 */
export function notForThis(
  backend: string,
  machine: Machine = thisMachine,
): string | undefined {
  const { os } = machine;
  if (backend === "metal") {
    return os === "darwin"
      ? undefined
      : `Metal is for macOS, and this is ${os}`;
  }
  const vendor = VENDORS[backend];
  if (vendor === undefined) return undefined;
  const [name, id] = vendor;
  if (os === "darwin") return "it is not for macOS";
  const isThere = machine.devices()?.some(({ vendor, kind }) =>
    vendor === id && GPU_CLASSES.test(kind)
  );
  return isThere === false ? `this machine has no GPU of ${name}` : undefined;
}
