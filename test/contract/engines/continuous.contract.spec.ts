import { ContinuousGenerator } from '../../../src/worker/generation/continuous-generator.js';
import { SimulatedTextBackend } from '../../support/simulated-text-backend.js';
import { describeTextGenerator } from './generator-contract.js';

describeTextGenerator('continuous batching', () => {
  const backend = new SimulatedTextBackend({
    itemError: ({ request }) =>
      Buffer.from(request.prompt.slice(0, -1)).includes('FAIL')
        ? new Error('FAIL was read.')
        : undefined,
    beforeStep: () => new Promise(resolve => setImmediate(resolve)),
  });
  return {
    engine: new ContinuousGenerator({ backend, engine: 'simulated' }),
    endless: 'ENDLESS',
    failing: 'FAIL',
  };
});
