/**
 * Makes tests of numbers of calls independent of the machine's load.
 *
 * @module
 */

/**
 * Stops the host's clock. On a loaded machine a first call may take long enough for one that is
 * slow, and there is another call.
 */
export function stopClock(): Disposable {
  const { now } = performance;
  performance.now = () => 0;
  return {
    [Symbol.dispose]() {
      performance.now = now;
    },
  };
}
