import { SimulatedTextBackend } from '../../support/simulated-text-backend.js';
import { describeTextBackend } from './text-backend.contract.js';

describeTextBackend('the simulator', () => {
  const backend = new SimulatedTextBackend({ grammar: true });
  return Promise.resolve({ backend, kill: () => backend.die() });
});
