import { type TokenUsage } from '../../core/jobs/batch-job.js';

/** O: output file, E: error file. */
export type ResultKind = 'O' | 'E';

/** One line of the result log: `<plan index> <O|E> <usage> <output line>\n`; usage is `-` or `in/out/cached/reasoning`. */
export interface ResultRecord {
  readonly index: number;
  readonly kind: ResultKind;
  readonly usage?: TokenUsage;
  /** The line of the output or error file, without a line break. */
  readonly line: string;
}

export const encodeRecord = ({ index, kind, usage, line }: ResultRecord): Buffer =>
  Buffer.from(`${index} ${kind} ${usage ? usageText(usage) : '-'} ${line}\n`);

const usageText = (usage: TokenUsage): string =>
  `${usage.inputTokens}/${usage.outputTokens}/${usage.cachedTokens}/${usage.reasoningTokens}`;

export interface RecordHead {
  readonly index: number;
  readonly kind: ResultKind;
  readonly usage?: TokenUsage;
  /** Where in the record the output line starts. */
  readonly lineStart: number;
}

const HEAD = /^(\d{1,10}) ([OE]) (?:-|(\d+)\/(\d+)\/(\d+)\/(\d+)) \{/;
/** Longest head: index, kind and four numbers. */
const HEAD_BYTES = 120;

/** Undefined: not a record, or a torn one. @param bytes without the line break */
export function decodeHead(bytes: Buffer): RecordHead | undefined {
  const match = HEAD.exec(bytes.toString('latin1', 0, HEAD_BYTES));
  if (!match || bytes.at(-1) !== 0x7d) return undefined;
  const [head, index, kind, ...usage] = match;
  const [inputTokens, outputTokens, cachedTokens, reasoningTokens] = usage.map(Number);
  return {
    index: Number(index),
    kind: kind as ResultKind,
    lineStart: head.length - 1,
    ...(usage[0] === undefined
      ? {}
      : {
          usage: {
            inputTokens: inputTokens!,
            outputTokens: outputTokens!,
            cachedTokens: cachedTokens!,
            reasoningTokens: reasoningTokens!,
          },
        }),
  };
}
