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
