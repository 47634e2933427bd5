import { assertEquals, assertThrows } from "@std/assert";
import { join } from "node:path";
import { UserError } from "../../bench/model/errors.ts";
import { hasRows } from "./usual_paths.ts";

Deno.test("hasRows() looks into the folders of devices, and refuses a file", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const [latest, device] = [join(folder, "latest"), "latest/device"];
    assertEquals(hasRows(latest), false);
    Deno.mkdirSync(join(folder, device), { recursive: true });
    assertEquals(hasRows(latest), false);
    const csv = join(folder, device, "s.csv");
    Deno.writeTextFileSync(csv, "");
    assertEquals(hasRows(latest), true);
    const { message } = assertThrows(() => hasRows(csv), UserError);
    assertEquals(message.startsWith(`Cannot read ${csv}: `), true, message);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
