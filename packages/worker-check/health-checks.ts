import { status } from '@grpc/grpc-js';
import { SERVING, type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { neededMessageBytes, reportProblem } from '@switchyard/worker-protocol/report-check.js';
import { type Check, type CheckContext, demand, notJudged } from './check.js';

const ANCHOR = '2-two-health-services';

/** What both health services say of a worker at rest. */
export const HEALTH_CHECKS: readonly Check[] = [
  {
    name: 'standard-health',
    anchor: ANCHOR,
    about: 'grpc.health.v1 answers SERVING',
    async run({ client }) {
      const end = await client.check();
      const method = 'grpc.health.v1.Health/Check of service ""';
      demand(end.isServed, `${method} is not served; every worker must serve it`);
      demand(end.code === status.OK, `${method} failed with ${end.text}`);
      demand(
        end.messages[0]?.status === SERVING,
        `${method} does not answer SERVING, so the gateway sends no work`,
      );
      return 'SERVING';
    },
  },
  {
    name: 'health',
    anchor: ANCHOR,
    about: 'its own Health is READY, each field in its range',
    /** Every field as the gateway demands it. */
    run(context) {
      const { report } = context;
      demand(
        report.state === 'ready',
        `its Health reports the state ${report.state}, so the gateway sends no work`,
      );
      const { uploadLimitBytes } = context.options;
      const neededBytes = neededMessageBytes(context.kind, uploadLimitBytes);
      // Compared with itself: model and kind are another check.
      const own = report as WorkerHealthReport & { kind: CheckContext['kind'] };
      const problem = reportProblem(report, { id: own.model, kind: own.kind }, neededBytes);
      demand(problem === undefined, `${problem}`);
      return `max_batch ${report.maxBatch}, max_concurrent ${report.maxConcurrent}, streams ${report.streams}`;
    },
  },
  {
    name: 'identity',
    anchor: ANCHOR,
    about: 'it is of that model and kind',
    needs: 'health',
    /** The gateway refuses a worker of another model. */
    run(context) {
      const { model, kind } = context.report;
      const { model: wanted } = context.options;
      demand(
        kind === context.kind,
        `its Health reports kind "${kind}"; it must be "${context.kind}"`,
      );
      if (wanted === undefined)
        throw notJudged(`--model names the id of models.yaml; it says "${model}"`);
      demand(
        model === wanted,
        `its Health reports model "${model}"; the gateway refuses all but "${wanted}"`,
      );
      return `model ${model}, kind ${kind}`;
    },
  },
];
