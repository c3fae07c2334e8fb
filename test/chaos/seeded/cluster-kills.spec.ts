import { describe } from '@jest/globals';
import { itWith, POSTGRES, REDIS } from '../../support/requires.js';
import { expectPassed } from './chaos-command.js';

describe('npm run chaos', () => {
  itWith(REDIS, POSTGRES)(
    'cluster: one process of each kind dies, each request has its own answer',
    () => {
      const faults = 'kill-worker,kill-gateway,kill-processor,kill-redis,kill-postgres';
      return expectPassed('--seed', '2', '--topology', 'cluster', '--faults', faults);
    },
  );
});
