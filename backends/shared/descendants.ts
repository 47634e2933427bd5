/**
 * What a process started, and what these started in their turn.
 *
 * @module
 */

import { askTool } from "./ask_tool.ts";

/**
 * The processes below `pid`; none where the system has no `ps`. Asked for while `pid` lives:
 * nothing says later whose they were.
 */
export function descendantsOf(pid: number): readonly number[] {
  const list = askTool("ps", ["-A", "-o", "pid=,ppid="])?.stdout ?? "";
  const children = Map.groupBy(
    list.split("\n").map((line) => line.trim().split(/\s+/).map(Number)),
    ([, parent]) => parent,
  );
  const found: number[] = [];
  for (let left = [pid]; left.length > 0;) {
    left = left.flatMap((one) => (children.get(one) ?? []).map(([p]) => p!));
    found.push(...left);
  }
  return found;
}
