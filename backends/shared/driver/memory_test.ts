import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { deviceTest, failure } from "../../testdata/mock_device.ts";

deviceTest(
  "alloc() gives memory that uploads, fills, slices and downloads",
  (device) => {
    using memory = device.alloc(8);
    memory.upload(new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]));
    const slice = memory.slice(2, 3);
    strictEqual(slice.address, memory.address + 2n);
    deepStrictEqual([...slice.download()], [3, 4, 5]);
    slice.fill(9);
    slice[Symbol.dispose]();
    memory.slice(7, 1).upload(new Uint8Array([0]));
    device.synchronize();
    deepStrictEqual([...memory.download()], [1, 2, 9, 9, 9, 6, 7, 0]);
  },
);

deviceTest("alloc() of nothing gives memory that can be used", (device) => {
  using memory = device.alloc(0);
  memory.upload(new Uint8Array(0));
  memory.fill(1);
  deepStrictEqual([memory.bytes, memory.download().length], [0, 0]);
});

deviceTest("alloc() says what was asked for and what is free", (device) => {
  const error = failure(() => device.alloc(2 ** 40));
  strictEqual(error.failure, "oom");
  strictEqual(
    error.message,
    "Cannot allocate 1099511627776 bytes of device memory: 2147483648 of 2147483648 bytes are free",
  );
});

deviceTest("slice() and upload() stay inside the memory", (device) => {
  using memory = device.alloc(8);
  throws(
    () => memory.slice(4, 5),
    /Cannot use bytes 4 to 9 of device memory: it has 8/,
  );
  throws(() => memory.slice(-1, 2), RangeError);
  throws(() => memory.upload(new Uint8Array(9)), RangeError);
});
