import { fileURLToPath } from 'node:url';
import {
  PROCESSOR_NODE_FLAGS,
  processorEnvironment,
  type ProcessorLink,
} from '../../../platform/config/processor-link.js';

/** How the batch processor is started. Tests start another program. */
export interface ProcessorLaunch {
  readonly command: string;
  readonly args: readonly string[];
  environment(link: ProcessorLink): NodeJS.ProcessEnv;
}

/** Injection token of the `ProcessorLaunch`. */
export const PROCESSOR_LAUNCH = Symbol('PROCESSOR_LAUNCH');

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
