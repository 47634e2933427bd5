/** Talks on standard error, slowly enough for its reader to be gone, and says how far it came. */

import { Progress } from "../terminal/progress.ts";
import { say, tell } from "../terminal/output.ts";

await new Promise((resolve) => setTimeout(resolve, 100));
tell("talk");
say("told");
{
  using progress = new Progress("test", 2);
  progress.print("a line");
  progress.step();
}
say("shown");
