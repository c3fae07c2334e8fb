import { status } from '@grpc/grpc-js';
import { ERROR_REGISTRY, isErrorCode } from '../../contracts/errors/error-registry.js';
import {
  checkedAnswer,
  type CheckContext,
  demand,
  endOf,
  CheckVerdict,
} from './check.js';
import { startGroup } from './health-checks.js';
import { endText } from './worker-client.js';

export async function answer({ client, samples }: CheckContext): Promise<string> {
  const { messages, ms } = await checkedAnswer(
    client.start(samples.plain(0)),
    'a well-formed request',
    'fail',
  );
  samples.judge(messages, 0);
  return `${Math.round(ms)} ms`;
}

/** Members of the groups that are sent here. */
const membersOf = (context: CheckContext): number =>
  Math.max(3, Math.min(8, context.report.maxBatch));

export async function group(context: CheckContext): Promise<string> {
  const { samples } = context;
  const plain = Array.from({ length: membersOf(context) }, (_, n) => samples.plain(n));
  const calls = startGroup(context, plain).map((call, n) =>
    checkedAnswer(call, `member ${n + 1} of a group`),
  );
  const answers = (await Promise.all(calls)).map(({ messages }) => messages);
  answers.forEach((messages, n) => samples.judge(messages, n));
  const told = answers
    .flatMap(messages => samples.execution(messages) ?? [])
    .filter(({ batchId }) => batchId !== '');
  for (const { batchId, batchSize } of told) {
    const sharing = told.filter(other => other.batchId === batchId).length;
    demand(
      sharing <= batchSize,
      `${sharing} answers name one engine call, whose batch_size is ${batchSize}`,
    );
  }
  const count = new Set(told.map(({ batchId }) => batchId)).size;
  return `${answers.length} answered, ${count === 0 ? 'without Execution' : `in ${count} engine calls`}`;
}

export async function badItem(context: CheckContext): Promise<string> {
  const { samples } = context;
  const members = Array.from({ length: membersOf(context) }, (_, n) => samples.plain(n));
  const [bad, ...calls] = startGroup(context, [samples.broken, ...members.slice(1)]);
  const answers = calls.map(call =>
    checkedAnswer(call, 'a well-formed request beside a bad one in its group'),
  );
  await Promise.all(answers);
  const end = bad && (await endOf(bad, 'a bad request'));
  demand(
    end?.code !== status.OK,
    'a request that cannot be computed was answered as if it were right',
  );
  return `${calls.length} answered, one failed`;
}

export async function trailers({ client, kind, samples }: CheckContext): Promise<string> {
  const end = await endOf(client.start(samples.broken), 'a bad request');
  const { code, param = '' } = end.trailers;
  if (end.code === status.OK)
    throw new CheckVerdict('not_judged', 'no request fails here');
  demand(
    code !== undefined,
    `a bad request ended with ${endText(end)}, without the trailer switchyard-code`,
  );
  demand(
    isErrorCode(code),
    `switchyard-code is "${code}", which the gateway does not know`,
  );
  // What is no audio, and a format that is none, are faults of the caller; a text engine
  // may report its own.
  const mayBeOwn = kind === 'llm' || kind === 'embedding';
  demand(
    mayBeOwn || ERROR_REGISTRY[code].status < 500,
    `a bad request ended with ${code}: the caller gets 500, not 400`,
  );
  demand(
    /^([\w.~!*'()-]|%[0-9A-F]{2})*$/i.test(param),
    `switchyard-param "${param}" is not percent-encoded`,
  );
  return [code, param].filter(Boolean).join(', ');
}
