import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { type Check, type CheckContext, checkedAnswer, demand, endOf, notJudged } from './check.js';
import { PROBE_LIMIT_MS } from './worker-client.js';

const ANCHOR = '3-slots-and-groups';

/** As many as fit into one engine call, 3 to 8. */
const membersOf = ({ report, samples }: CheckContext) =>
  Array.from({ length: Math.max(3, Math.min(8, report.maxBatch)) }, (_, n) => samples.plain(n));

/** Right and wrong requests, alone and in groups. */
export const ANSWER_CHECKS: readonly Check[] = [
  {
    name: 'answer',
    anchor: '1-generate-code-and-serve-one-service',
    about: 'it answers',
    needs: 'health',
    async run({ client, samples }) {
      const { messages, ms } = await checkedAnswer(
        client.start(samples.plain(0)),
        'a well-formed request',
        'fail',
      );
      samples.judge(messages, 0);
      return `${Math.round(ms)} ms`;
    },
  },
  {
    name: 'group',
    anchor: ANCHOR,
    about: 'each member of a group gets its answer',
    needs: 'answer',
    async run(context) {
      const { client, samples } = context;
      const calls = client
        .startGroup(membersOf(context))
        .map((call, n) => checkedAnswer(call, `member ${n + 1} of a group`));
      const answers = await Promise.all(calls);
      const told = answers
        .flatMap(({ messages }, n) => samples.judge(messages, n) ?? [])
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
    },
  },
  {
    name: 'bad-item',
    anchor: ANCHOR,
    about: 'a bad member of a group fails alone',
    needs: 'group',
    async run(context) {
      const { client, samples } = context;
      const members = membersOf(context).with(0, samples.broken);
      const [bad, ...calls] = client.startGroup(members);
      const answers = calls.map(call =>
        checkedAnswer(call, 'a well-formed request beside a bad one in its group'),
      );
      await Promise.all(answers);
      const end = await endOf(bad!, 'a bad request');
      demand(
        end.code !== status.OK,
        'a request that cannot be computed was answered as if it were right',
      );
      return `${calls.length} answered, one failed`;
    },
  },
  {
    name: 'trailers',
    anchor: '7-how-a-call-fails',
    about: 'a failure has a code',
    needs: 'answer',
    async run({ client, kind, samples, options }) {
      const end = await endOf(client.start(samples.broken), 'a bad request');
      const { code, param = '' } = end.trailers;
      if (end.code === status.OK) throw notJudged('no request fails here');
      demand(
        code !== undefined,
        `a bad request ended with ${end.text}, without the trailer switchyard-code`,
      );
      const httpStatus = options.statusOf(code);
      demand(
        httpStatus !== undefined,
        `switchyard-code is "${code}", which the gateway does not know`,
      );
      // What is no audio, and a format that is none, are faults of the caller; a text
      // engine may report its own.
      const mayBeOwn = kind === 'llm' || kind === 'embedding';
      demand(
        mayBeOwn || httpStatus < 500,
        `a bad request ended with ${code}: the caller gets 500, not 400`,
      );
      demand(
        /^([\w.~!*'()-]|%[0-9A-F]{2})*$/i.test(param),
        `switchyard-param "${param}" is not percent-encoded`,
      );
      return [code, param].filter(Boolean).join(', ');
    },
  },
  {
    name: 'busy-health',
    anchor: '2-two-health-services',
    about: 'both, while the engine computes',
    needs: 'answer',
    /** Probes while the engine has as much as one call of it takes. */
    async run({ client, kind, samples, report }) {
      const members = Array(Math.min(4, report.maxBatch)).fill(samples.heavy);
      const calls = client.startGroup(members);
      const untilMs = performance.now() + 8000;
      let slowestMs = 0;
      try {
        while (performance.now() < untilMs && calls.some(({ hasEnded }) => !hasEnded)) {
          for (const end of await Promise.all([client.health(kind), client.check()])) {
            demand(
              end.code === status.OK || !end.isServed,
              `a health probe while the engine computes failed with ${end.text}`,
            );
            slowestMs = Math.max(slowestMs, end.ms);
          }
          await pause(50);
        }
      } finally {
        for (const call of calls) call.reset();
      }
      return `slowest probe ${Math.round(slowestMs)} ms of ${PROBE_LIMIT_MS}`;
    },
  },
];
