import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { f32, i32, mem } from "../../../bench/device/queue.ts";
import { cuda } from "../../cuda/cuda.ts";
import { deviceTest, failure, ONE } from "../../testdata/mock_device.ts";
import {
  ccTest,
  driverControls,
  driverPath,
  kernelPath,
} from "../../testdata/mocks.ts";

deviceTest("interval() measures what was queued inside it", (device) => {
  using module = device.load(kernelPath());
  using memory = device.alloc(16);
  using interval = device.interval();
  const step = module.program("empty").step([], ONE);
  step.enqueue();
  interval.measure(() => {
    memory.fill(0);
    step.enqueue();
  });
  step.enqueue();
  device.synchronize();
  strictEqual(interval.nanoseconds(), 1_500_000);
  interval.measure(() => {});
  strictEqual(interval.nanoseconds(), 0);
});

deviceTest("interval() fails by the name of the call", (device, mock) => {
  using interval = device.interval();
  mock.fault("cuEventRecord", 719, 1);
  const error = failure(() => interval.measure(() => {}));
  strictEqual(
    error.message,
    "cuEventRecord: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure",
  );
  mock.reset();
  mock.fault("cuEventCreate", 2);
  strictEqual(failure(() => device.interval()).failure, "oom");
});

deviceTest("capture() records without running, and replays", (device, mock) => {
  using module = device.load(kernelPath());
  using x = device.alloc(4);
  using y = device.alloc(4);
  x.upload(new Uint8Array(new Float32Array([10]).buffer));
  y.fill(0);
  const step = module.program("affine").step(
    [mem(y), mem(x), f32(2), i32(1)],
    ONE,
  );
  using graph = device.capture!(() => {
    step.enqueue();
    x.fill(0);
  });
  const value = () => new Float32Array(y.download().buffer)[0];
  strictEqual(value(), 0);
  using interval = device.interval();
  interval.measure(() => graph.launch());
  strictEqual(value(), 21);
  strictEqual(interval.nanoseconds(), 1_750_000);
  graph.launch();
  strictEqual(value(), 1);
  strictEqual(mock.calls("cuLaunchKernel"), 1);
});

deviceTest(
  "capture() of a launch that fails ends the capture and throws it",
  (device) => {
    using module = device.load(kernelPath());
    const program = module.program("empty");
    const error = failure(() =>
      device.capture!(() =>
        program.step([], { ...ONE, grid: [0, 1, 1] }).enqueue()
      )
    );
    strictEqual(error.failure, "launch");
    ok(error.message.includes("cuLaunchKernel"), error.message);
    device.synchronize();
    using graph = device.capture!(() => program.step([], ONE).enqueue());
    graph.launch();
  },
);

deviceTest(
  "capture() of waiting fails, and the stream is usable again",
  (device) => {
    const error = failure(() => device.capture!(() => device.synchronize()));
    strictEqual(
      error.message,
      "cuStreamSynchronize: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900): operation not permitted when stream is capturing",
    );
    device.synchronize();
  },
);

deviceTest("capture() passes on what is no failure of the case", (device) => {
  throws(() =>
    device.capture!(() => {
      throw new TypeError("a mistake of the harness");
    }), TypeError);
  device.synchronize();
});

deviceTest(
  "capture() gives the graph back where it cannot be instantiated",
  (device, mock) => {
    mock.fault("cuGraphInstantiateWithFlags", 2);
    strictEqual(failure(() => device.capture!(() => {})).failure, "oom");
  },
);

ccTest(
  "synchronize() tells of an illegal address; freeing after it never throws",
  () => {
    const mock = driverControls();
    mock.reset();
    const backend = cuda({ driver: [driverPath()], nvml: [] });
    {
      using device = backend.open(backend.find().devices[0]!);
      using module = device.load(kernelPath());
      using memory = device.alloc(4);
      using _interval = device.interval();
      using _graph = device.capture!(() => {});
      module.program("empty").step([], ONE).enqueue();
      mock.fault("cuStreamSynchronize", 700);
      const error = failure(() => device.synchronize());
      strictEqual(error.failure, "launch");
      strictEqual(
        error.message,
        "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered",
      );
      // Everything fails from now on, and still says what first went wrong.
      for (
        const work of [
          () => memory.download(),
          () => device.alloc(4),
          () => device.interval(),
        ]
      ) {
        ok(failure(work).message.includes("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
      }
    }
    mock.reset();
    using device = backend.open(backend.find().devices[0]!);
    device.synchronize();
  },
);

ccTest("open() gives the context back where the stream cannot be made", () => {
  const mock = driverControls();
  mock.reset();
  const before = mock.living();
  const backend = cuda({ driver: [driverPath()], nvml: [] });
  const [info] = backend.find().devices;
  mock.fault("cuStreamCreate", 2);
  throws(
    () => backend.open(info!),
    /^UserError: Cannot open CUDA device 0: .*libcuda.so.1: cuStreamCreate: CUDA_ERROR_OUT_OF_MEMORY \(2\): out of memory$/,
  );
  strictEqual(mock.living(), before);
});

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

deviceTest("persisting sets nothing aside, and says what is", (device) => {
  const { persisting } = device;
  ok(persisting!.bytes() > 0);
  persisting!.forbid();
  strictEqual(persisting!.bytes(), 0);
});
