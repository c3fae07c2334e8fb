import type * as Onnx from 'onnxruntime-node';

export type OnnxRuntime = typeof Onnx;
export type OnnxSession = Onnx.InferenceSession;
export type OnnxTensor = Onnx.Tensor;

const INSTALL = 'npm install onnxruntime-node@1.30.0';

/** Loaded when an engine needs it: 290 MB that nobody else pays for. */
export async function loadOnnxRuntime(): Promise<OnnxRuntime> {
  try {
    const module = (await import('onnxruntime-node')) as OnnxRuntime & { default?: OnnxRuntime };
    const runtime = module.default ?? module;
    // What fails is thrown, and told with what to do about it; the library's own line on stderr would be a second one.
    runtime.env.logLevel = 'fatal';
    return runtime;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`onnxruntime-node is not there or does not load: ${INSTALL} (${why})`, { cause: error });
  }
}

export interface SessionPlace {
  /** "cpu" or "cuda:N". */
  readonly device: string;
  /** Threads of one operator. */
  readonly threads: number;
}

/** Never falls back to another device: a model that was to run on a GPU and does not is an error. */
export async function openSession(runtime: OnnxRuntime, file: string, place: SessionPlace): Promise<OnnxSession> {
  const [kind, index = '0'] = place.device.split(':');
  const cuda = kind === 'cuda';
  try {
    return await runtime.InferenceSession.create(file, {
      executionProviders: [cuda ? { name: 'cuda', deviceId: Number(index) } : 'cpu'],
      ...{ intraOpNumThreads: place.threads, interOpNumThreads: 1, logSeverityLevel: 3 },
      // A memory plan is kept for every combination of shapes ever seen; here each step has another one.
      enableMemPattern: false,
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const hint = cuda
      ? ` The CUDA provider needs an NVIDIA driver, CUDA 12, cuDNN 9 and its libraries: ONNXRUNTIME_NODE_INSTALL=cuda12 ${INSTALL}.`
      : '';
    throw new Error(`ONNX Runtime cannot open ${file} on ${place.device}: ${why}.${hint}`, { cause: error });
  }
}
