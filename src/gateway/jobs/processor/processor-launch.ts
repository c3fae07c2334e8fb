import { fileURLToPath } from 'node:url';
import { processorEnvironment, type ProcessorLink } from '../../../platform/config/processor-link.js';

/** How the batch processor is started. Tests start another program. */
export interface ProcessorLaunch {
  readonly command: string;
  readonly args: readonly string[];
  environment(link: ProcessorLink): NodeJS.ProcessEnv;
}

/** Injection token of the `ProcessorLaunch`. */
export const PROCESSOR_LAUNCH = Symbol('PROCESSOR_LAUNCH');

/**
 * A batch makes much garbage and keeps next to nothing: with V8's own measures the heap grows by 150 MiB before anybody looks
 * (test/bench/README.md "Reading `batch-ingest`"). A processor that is started by hand wants them, too.
 */
export const PROCESSOR_NODE_FLAGS = ['--max-semi-space-size=8', '--initial-old-space-size=48'] as const;

/** The processor of this build, run by the Node that runs the gateway, with the same settings. */
export const builtProcessorLaunch: ProcessorLaunch = {
  command: process.execPath,
  args: [
    ...PROCESSOR_NODE_FLAGS,
    '--enable-source-maps',
    fileURLToPath(new URL('../../../main.batch.js', import.meta.url)),
  ],
  environment: link => processorEnvironment(link),
};
