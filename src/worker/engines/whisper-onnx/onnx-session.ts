import type * as Onnx from 'onnxruntime-node';
import { type RowData, type RowTensor } from './kv-batches.js';

type OnnxRuntime = typeof Onnx;

const INSTALL = 'switchyard engines install whisper-onnx';

/** Loaded when an engine needs it, since it takes 290 MB. */
async function loadOnnxRuntime(): Promise<OnnxRuntime> {
  try {
    const module = (await import('onnxruntime-node')) as OnnxRuntime & { default?: OnnxRuntime };
    const runtime = module.default ?? module;
    // Failures are thrown with what to do about them; the library's own line on stderr would repeat them.
    runtime.env.logLevel = 'fatal';
    return runtime;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`onnxruntime-node is missing or does not load: ${INSTALL} (${why})`, { cause: error });
  }
}

export interface SessionPlace {
  /** "cpu" or "cuda:N". */
  readonly device: string;
  /** Threads of one operator. */
  readonly threads: number;
}

interface NeededNames {
  /** Inputs without which this is no public export. */
  readonly inputs: readonly string[];
  /** Inputs that some exports have; they are served too. */
  readonly optional?: readonly string[];
  readonly outputs: readonly string[];
}

interface HalfFloatArray {
  new (values: Float32Array): ArrayBufferView<ArrayBuffer>;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): Iterable<number>;
}

/** The platform's 16 bit floats; Node 24 has them. */
function float16Array(): HalfFloatArray {
  const { Float16Array } = globalThis as unknown as { readonly Float16Array?: HalfFloatArray };
  if (Float16Array === undefined) throw new Error('16 bit floats need Node 24 or newer; use dtype fp32.');
  return Float16Array;
}

/** The bits of 16 bit floats as whole numbers: the binding counts a Float16Array as empty (onnxruntime#32323). */
function bitsOf(data: ArrayBufferView): Uint16Array {
  return new Uint16Array(data.buffer, data.byteOffset, data.byteLength / Uint16Array.BYTES_PER_ELEMENT);
}

/** In 32 bits; what has them already is returned as it is. */
export function asFloat32(tensor: RowTensor): RowTensor {
  if (tensor.type !== 'float16') return tensor;
  const { buffer, byteOffset, length } = tensor.data as unknown as Uint16Array;
  const HalfFloats = float16Array();
  return { ...tensor, type: 'float32', data: Float32Array.from(new HalfFloats(buffer, byteOffset, length)) };
}

function asFloat16(tensor: RowTensor): RowTensor {
  if (tensor.type !== 'float32') return tensor;
  const HalfFloats = float16Array();
  return { ...tensor, type: 'float16', data: bitsOf(new HalfFloats(tensor.data as unknown as Float32Array)) };
}

export const floats = (data: Float32Array, dims: readonly number[]): RowTensor => ({ type: 'float32', data, dims });

export const integers = (values: readonly number[], dims: readonly number[]): RowTensor => ({
  type: 'int64',
  data: BigInt64Array.from(values, BigInt),
  dims,
});

/**
 * One ONNX session. Floats go in and come out in the width that the graph declares, so encoder and decoder may differ;
 * 16 bit floats are held as whole numbers. Runs block their thread.
 */
export class OnnxSession {
  private constructor(
    private readonly session: Onnx.InferenceSession,
    readonly file: string,
  ) {}

  /** Never falls back to another device: a model that was to run on a GPU and does not is an error. */
  static async open(file: string, place: SessionPlace): Promise<OnnxSession> {
    const runtime = await loadOnnxRuntime();
    const [kind, index = '0'] = place.device.split(':');
    const cuda = kind === 'cuda';
    try {
      const session = await runtime.InferenceSession.create(file, {
        executionProviders: [cuda ? { name: 'cuda', deviceId: Number(index) } : 'cpu'],
        ...{ intraOpNumThreads: place.threads, interOpNumThreads: 1, logSeverityLevel: 3 },
        // A memory plan is kept for every combination of shapes ever seen; here each step has another one.
        enableMemPattern: false,
      });
      return new OnnxSession(session, file);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const hint = cuda ? ' switchyard gpu check names what is missing of driver, CUDA, cuDNN and provider.' : '';
      throw new Error(`ONNX Runtime cannot open ${file} on ${place.device}: ${why}.${hint}`, { cause: error });
    }
  }

  hasInput(name: string): boolean {
    return this.session.inputNames.includes(name);
  }

  hasOutput(name: string): boolean {
    return this.session.outputNames.includes(name);
  }

  shapeOf(input: string): readonly (number | string)[] {
    const metadata = this.#metadata(input);
    return metadata?.isTensor ? metadata.shape : [];
  }

  /** @throws Error that names what is missing, and inputs that nothing here can fill */
  require({ inputs, optional = [], outputs }: NeededNames): void {
    const missing = [
      ...inputs.filter(name => !this.hasInput(name)).map(name => `no input ${name}`),
      ...outputs.filter(name => !this.hasOutput(name)).map(name => `no output ${name}`),
    ];
    const known = new Set([...inputs, ...optional]);
    const unknown = this.session.inputNames.filter(name => !known.has(name)).map(name => `the unknown input ${name}`);
    const problems = [...missing, ...unknown];
    if (problems.length === 0) return;
    throw new Error(
      `${this.file} does not fit config.json or is no public Whisper export: it has ${problems.join(', ')}.`,
    );
  }

  /** Outputs that are not named would be copied for nothing: a tenth of a decoder step. */
  async run(
    inputs: Readonly<Record<string, RowTensor>>,
    outputs: readonly string[],
  ): Promise<(output: string) => RowTensor> {
    const feeds = Object.entries(inputs).map(([name, tensor]) => [name, this.#fed(name, tensor)] as const);
    const answer = await this.session.run(Object.fromEntries(feeds), outputs);
    return output => received(answer[output]!);
  }

  release(): Promise<void> {
    return this.session.release();
  }

  /** A plain object: the library's own class would turn the bits back into a Float16Array. */
  #fed(name: string, tensor: RowTensor): Onnx.Tensor {
    const metadata = this.#metadata(name);
    const wanted = metadata?.isTensor ? metadata.type : tensor.type;
    const { type, data, dims } = wanted === 'float16' ? asFloat16(tensor) : asFloat32(tensor);
    return { type, data, dims, location: 'cpu' } as unknown as Onnx.Tensor;
  }

  #metadata(input: string): Onnx.InferenceSession.ValueMetadata | undefined {
    return this.session.inputMetadata.find(({ name }) => name === input);
  }
}

function received({ type, dims, data }: Onnx.Tensor): RowTensor {
  const bits = type === 'float16' ? bitsOf(data as unknown as ArrayBufferView) : data;
  return { type, dims, data: bits as unknown as RowData };
}
