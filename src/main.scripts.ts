/** What the scripts of the product use of it, in one file of the build. */
export { ENGINE_TABLE } from './cli/models/engines/engine-table.js';
export {
  compileLlama,
  lackingBuildTools,
  llamaVersion,
} from './cli/models/engines/llama-kernels.js';
export { firstModelSteps } from './cli/operate/init.js';
export { PROCESSOR_NODE_FLAGS } from './platform/config/processor-link.js';
export { explainListenProblem } from './platform/process/listen-check.js';

/** What the manual is made of, loaded when it is written: other scripts start without it. */
export const manualSources = async () => ({
  ...(await import('./cli/models/catalogue/catalogue.js')),
  ...(await import('./cli/operate/file-schemas.js')),
  ...(await import('./cli/operate/settings-file.js')),
  ...(await import('./cli/program.js')),
  ...(await import('./cli/shared/terminal.js')),
});
