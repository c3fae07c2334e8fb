/** What the scripts of the product use of it, in one file of the build. */
export { PROCESSOR_NODE_FLAGS } from '../platform/config/processor-link.js';
export { explainListenProblem } from '../platform/process/listen-check.js';
export { ENGINE_TABLE } from './models/engines/engine-table.js';
export { compileLlama, lackingBuildTools, llamaVersion } from './models/engines/llama-kernels.js';
export { firstModelSteps } from './operate/init.js';
