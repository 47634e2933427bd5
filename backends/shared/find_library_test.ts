import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  find,
  inCuda,
  openFirst,
  openWanted,
  sitePackages,
  thisHost,
  toolkits,
} from "./find_library.ts";
import { fakeHost } from "../testdata/mocks.ts";

const WANTED = inCuda(
  ["libx.so.13", "libx.so.12"],
  ["nvidia/cu13/lib", "nvidia/x/lib"],
  ["lib64", "targets/*/lib"],
);

Deno.test("toolkits() prefers what the user named, then the newest version", () => {
  const files = [
    "/usr/local/cuda-9.2/v",
    "/usr/local/cuda-13.0/v",
    "/usr/local/cuda-12.8/v",
  ];
  assertEquals(
    toolkits(fakeHost({ CUDA_HOME: "/opt/cuda", CUDA_PATH: "" }, files)),
    [
      "/opt/cuda",
      "/usr/local/cuda",
      "/usr/local/cuda-13.0",
      "/usr/local/cuda-12.8",
      "/usr/local/cuda-9.2",
    ],
  );
});

Deno.test("sitePackages() follows the python3 on the path through its environment", () => {
  const host = fakeHost(
    { PATH: "/bin:/opt/tools", HOME: "/home/me" },
    [
      "/usr/bin/python3.12",
      "/opt/torch/.venv/lib/python3.12/site-packages/nvidia",
      "/home/me/.local/lib/python3.12/site-packages/x",
      "/usr/lib/python3/dist-packages/x",
      "/usr/lib/python3.12/json",
    ],
    {
      "/opt/tools/python3": "/opt/torch/.venv/bin/python3",
      "/opt/torch/.venv/bin/python3": "python",
      "/opt/torch/.venv/bin/python": "/usr/bin/python3.12",
    },
  );
  assertEquals(sitePackages(host), [
    "/opt/torch/.venv/lib/python3.12/site-packages",
    "/usr/lib/python3/dist-packages",
    "/home/me/.local/lib/python3.12/site-packages",
  ]);
});

Deno.test("sitePackages() ends where links go in a circle", () => {
  const host = fakeHost({ PATH: "/a" }, [], {
    "/a/python3": "/b/python3",
    "/b/python3": "/a/python3",
  });
  assertEquals(sitePackages(host), []);
});

Deno.test("find() looks in toolkits before wheels, newer names first in a folder", () => {
  const site = "/v/lib/python3.12/site-packages";
  const files = [
    "/usr/local/cuda/targets/x86_64-linux/lib/libx.so.12",
    "/usr/local/cuda/targets/x86_64-linux/lib/libx.so.13",
    "/usr/local/cuda/lib64/libother.so",
    `${site}/nvidia/x/lib/libx.so.12`,
    "/v/bin/python3",
  ];
  const host = fakeHost({ PATH: "/v/bin" }, files);
  assertEquals(find(WANTED, host), [
    "/usr/local/cuda/targets/x86_64-linux/lib/libx.so.13",
    "/usr/local/cuda/targets/x86_64-linux/lib/libx.so.12",
    `${site}/nvidia/x/lib/libx.so.12`,
  ]);
  assertEquals(WANTED.folders(host), [
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/targets/x86_64-linux/lib",
    `${site}/nvidia/cu13/lib`,
    `${site}/nvidia/x/lib`,
  ]);
});

Deno.test("openFirst() takes the first that opens and quotes what was wrong", () => {
  const open = (path: string) => {
    if (path === "a") {
      throw new Error(
        "Could not open library: a: cannot open shared object file: No such file or directory",
      );
    }
    if (path === "b") throw new Error("Could not open library: b: too short");
    return path.toUpperCase();
  };
  assertEquals(openFirst(["a", "b", "c"], open), { value: "C", path: "c" });
  assertEquals(openFirst(["a", "b"], open), {
    reason: "tried a, b (b: too short)",
  });
});

Deno.test("openWanted() names the folders in which it found nothing", () => {
  const host = fakeHost({}, ["/usr/local/cuda/lib64/other"]);
  const open = () => {
    throw new Error(
      "libz.so: cannot open shared object file: No such file or directory",
    );
  };
  assertEquals(openWanted(WANTED, { host }, open), {
    reason:
      "tried libx.so.13 (libz.so is missing), libx.so.12 (libz.so is missing); looked in /usr/local/cuda/lib64",
  });
  assertEquals(openWanted(WANTED, { host, paths: ["/mine"] }, open), {
    reason: "tried /mine (libz.so is missing)",
  });
});

Deno.test("thisHost lists nothing where there is no folder, and follows links", () => {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${folder}/file`, "");
    Deno.symlinkSync("file", `${folder}/link`);
    assertEquals([...thisHost.list(folder)].sort(), ["file", "link"]);
    assertEquals(thisHost.list(`${folder}/none`), []);
    assertEquals(thisHost.list(`${folder}/file`), []);
    assertStrictEquals(thisHost.link(`${folder}/link`), "file");
    assertStrictEquals(thisHost.link(`${folder}/file`), undefined);
    assertStrictEquals(thisHost.link(`${folder}/none`), undefined);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
