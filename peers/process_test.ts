import { assert, assertEquals } from "@std/assert";
import { pathToFileURL } from "node:url";
import { temporary } from "../bench/testdata/temporary.ts";
import { PeerProcess } from "./process.ts";

Deno.test({
  name: "PeerProcess.ending() does not wait for what the program started",
  ignore: Deno.build.os === "windows",
  async fn() {
    using folder = temporary();
    const program = pathToFileURL(`${folder.path}/program.sh`);
    Deno.writeTextFileSync(
      program,
      'echo "ValueError: no" >&2\nsleep 600 >&- <&- & echo $! > "$PID"\nexit 3\n',
    );
    const python = `${folder.path}/python`;
    // The program is the last argument.
    Deno.writeTextFileSync(
      python,
      `#!/bin/sh\nexport PID=${folder.path}/pid\nfor last; do :; done\nexec sh "$last"\n`,
      { mode: 0o755 },
    );
    const peer = new PeerProcess(python, {
      program,
      log: `${folder.path}/last.log`,
    });
    for await (const said of peer.messages()) assert(!said);
    assertEquals(await peer.ending(), "exited with code 3 (ValueError: no)");
    Deno.kill(Number(Deno.readTextFileSync(`${folder.path}/pid`)), "SIGKILL");
  },
});
