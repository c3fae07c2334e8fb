import { fieldStart, onnxField, type OnnxField, OnnxFile } from './onnx-file.js';

/** Fields of onnx.proto. */
const MODEL = { graph: 7, opset: 8 };
const OPSET = { domain: 1, version: 2 };
const GRAPH = { node: 1, name: 2, initializer: 5, output: 12 };
const NODE = { input: 1, output: 2, operator: 4, attribute: 5 };
const ATTRIBUTE = { name: 1, graph: 6, integers: 8, type: 20 };
const TENSOR = { dimension: 1, type: 2, name: 8, data: 9, external: 13, location: 14 };
const ENTRY = { key: 1, value: 2 };
const TYPE = { int64: 7, bool: 9 };
const GRAPH_ATTRIBUTE = 5;
const EXTERNAL = 1;

/**
 * Nearly all that a VITS model computes, by the names that PyTorch's exporter gives. What
 * follows each of them is computed element by element, with tensors of full length: a result
 * of length 1 is broadcast, and no shape is wrong.
 */
const COSTLY = /^\/(enc_p\/encoder\/ffn_layers|flow\/flows\.\d+\/enc\/in_layers|dec)\b/;
const CONVOLUTIONS: ReadonlySet<string> = new Set(['Conv', 'ConvTranspose']);
/** Sums in the vocoder, whose tensors are the longest. */
const SUM = /^\/dec\/.*\bAdd/;
/** The first version of the operators with GatherND. */
const LEAST_OPSET = 11;

/** Flags in each of three dimensions; below 128 bytes onnxruntime would copy them. */
const FLAGS = 16;
/** Beside the model, in a folder of each process that loads it: all bytes are 0, or all are 1. */
export const STOP_FILE = { name: 'stop.bin', bytes: FLAGS ** 3 };
/** Names of the constants that are added to the model. */
const ADDED = { flags: 'stop.flags', huge: 'stop.huge', start: 'stop.start', time: 'stop.time' };
const endName = (samples: number): string => `stop.end.${samples}`;

interface Operation {
  readonly operator: string;
  /** Inputs that have a length. */
  readonly inputs: readonly string[];
  readonly weights: readonly string[];
  readonly output: string;
  readonly attributes: readonly Buffer[];
  /** Samples of input that give an output, of one sample or a few. */
  readonly least: number;
}

/**
 * A VITS model that can be ended while it computes. onnxruntime has a way to end a run, which
 * sherpa-onnx does not offer. Here each costly operation becomes
 *
 *     If(stop) the same of the first samples, else of all
 *
 * where `stop` is read from `STOP_FILE`, which onnxruntime maps, when its turn comes. While that
 * file holds zeros the model computes what it did, to the bit; with ones the rest of a run
 * takes milliseconds.
 * @param path for errors
 * @returns what a file has to hold, in pieces; a model without such operations stays as it is
 */
export function stoppableVoice(path: string, model: Buffer): readonly Buffer[] {
  const file = new OnnxFile(path, model.length, (at, length) => model.subarray(at, at + length));
  const fields = [...file.fields()];
  const opset = fields.find(({ number }) => number === MODEL.opset);
  const version = opset ? file.numbers([...file.fields(opset)], OPSET.version)[0] : undefined;
  if (version === undefined || version < LEAST_OPSET) return [model];
  return fields.flatMap(field => {
    const whole = model.subarray(field.at, field.end);
    return field.number === MODEL.graph ? (stoppableGraph(file, field, model) ?? whole) : whole;
  });
}

/** Undefined when the graph has no costly operations. */
function stoppableGraph(file: OnnxFile, graph: OnnxField, model: Buffer): Buffer[] | undefined {
  const lengths = new Set<number>();
  const pieces = [...file.fields(graph)].map(field => {
    const found = field.number === GRAPH.node ? costly(file, field, model) : undefined;
    if (found === undefined) return model.subarray(field.at, field.end);
    lengths.add(found.least);
    return stoppable(found);
  });
  if (lengths.size === 0) return undefined;
  const all = [...pieces, stopFlags(), ...constants(lengths)];
  return [
    fieldStart(
      MODEL.graph,
      all.reduce((sum, { length }) => sum + length, 0),
    ),
    ...all,
  ];
}

/** Undefined when the node is not costly. */
function costly(file: OnnxFile, field: OnnxField, model: Buffer): Operation | undefined {
  const fields = [...file.fields(field)];
  const [operator = ''] = file.texts(fields, NODE.operator);
  const [output = ''] = file.texts(fields, NODE.output);
  const inputs = file.texts(fields, NODE.input);
  if (operator === 'Add' && SUM.test(output))
    return { operator, inputs, weights: [], output, attributes: [], least: 1 };
  if (!CONVOLUTIONS.has(operator) || !COSTLY.test(output)) return undefined;
  const attributes = fields.filter(({ number }) => number === NODE.attribute);
  const [width, dilation = 1] = ['kernel_shape', 'dilations'].map(
    name => integers(file, attributes, name)[0],
  );
  if (width === undefined) return undefined;
  const padding = integers(file, attributes, 'pads').reduce((sum, one) => sum + one, 0);
  return {
    operator,
    output,
    inputs: inputs.slice(0, 1),
    weights: inputs.slice(1),
    attributes: attributes.map(({ at, end }) => model.subarray(at, end)),
    least: operator === 'Conv' ? Math.max(1, dilation * (width - 1) + 1 - padding) : 1,
  };
}

/** The integers of the attribute with that name. */
function integers(file: OnnxFile, attributes: readonly OnnxField[], name: string) {
  const parts = attributes.map(one => [...file.fields(one)]);
  const wanted = parts.find(fields => file.texts(fields, ATTRIBUTE.name)[0] === name) ?? [];
  return file.numbers(wanted, ATTRIBUTE.integers);
}

/**
 * The place of the flag is computed from the shape of the input, though it is always 0, 0, 0:
 * else the flag would be read once, when the model is loaded.
 */
function stoppable({ operator, inputs, weights, output, attributes, least }: Operation): Buffer {
  const name = (part: string): string => `${output}.${part}`;
  const operation = (from: readonly string[], to: string): Buffer =>
    node(operator, [...from, ...weights], to, attributes);
  const firsts = inputs.map((_, index) => name(`first${index}`));
  const slices = inputs.map((input, index) =>
    node('Slice', [input, ADDED.start, endName(least), ADDED.time], firsts[index]!),
  );
  const branches = [
    branch('then_branch', name('ended'), [...slices, operation(firsts, name('ended'))]),
    branch('else_branch', name('whole'), [operation(inputs, name('whole'))]),
  ];
  return Buffer.concat([
    node('Shape', inputs.slice(0, 1), name('shape')),
    node('Div', [name('shape'), ADDED.huge], name('place')),
    node('GatherND', [ADDED.flags, name('place')], name('stop')),
    node('If', [name('stop')], output, branches),
  ]);
}

function node(
  operator: string,
  inputs: readonly string[],
  output: string,
  attributes: readonly Buffer[] = [],
): Buffer {
  return onnxField(
    GRAPH.node,
    Buffer.concat([
      ...inputs.map(input => onnxField(NODE.input, input)),
      onnxField(NODE.output, output),
      onnxField(NODE.operator, operator),
      ...attributes,
    ]),
  );
}

function branch(name: string, output: string, nodes: readonly Buffer[]): Buffer {
  const graph = [
    ...nodes,
    onnxField(GRAPH.name, output),
    onnxField(GRAPH.output, onnxField(1, output)),
  ];
  const parts = [
    onnxField(ATTRIBUTE.name, name),
    onnxField(ATTRIBUTE.graph, Buffer.concat(graph)),
    onnxField(ATTRIBUTE.type, GRAPH_ATTRIBUTE),
  ];
  return onnxField(NODE.attribute, Buffer.concat(parts));
}

function stopFlags(): Buffer {
  const entries = { location: STOP_FILE.name, length: String(STOP_FILE.bytes) };
  const external = Object.entries(entries).map(([key, value]) =>
    Buffer.concat([onnxField(ENTRY.key, key), onnxField(ENTRY.value, value)]),
  );
  return tensor(
    ADDED.flags,
    TYPE.bool,
    [FLAGS, FLAGS, FLAGS],
    [
      ...external.map(entry => onnxField(TENSOR.external, entry)),
      onnxField(TENSOR.location, EXTERNAL),
    ],
  );
}

const constants = (lengths: ReadonlySet<number>): Buffer[] => [
  constant(ADDED.huge, 2n ** 62n),
  constant(ADDED.start, 0n),
  constant(ADDED.time, 2n),
  ...[...lengths].map(length => constant(endName(length), BigInt(length))),
];

function constant(name: string, value: bigint): Buffer {
  const data = Buffer.alloc(8);
  data.writeBigInt64LE(value);
  return tensor(name, TYPE.int64, [1], [onnxField(TENSOR.data, data)]);
}

function tensor(
  name: string,
  type: number,
  dimensions: readonly number[],
  content: readonly Buffer[],
): Buffer {
  const shape = dimensions.map(dimension => onnxField(TENSOR.dimension, dimension));
  const parts = [...shape, onnxField(TENSOR.type, type), onnxField(TENSOR.name, name), ...content];
  return onnxField(GRAPH.initializer, Buffer.concat(parts));
}
