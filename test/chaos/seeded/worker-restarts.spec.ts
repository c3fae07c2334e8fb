import { describe } from '@jest/globals';
import { itWith, POSTGRES, REDIS } from '../../support/requires.js';
import { expectPassed } from './chaos-command.js';

describe('npm run chaos', () => {
  itWith(REDIS, POSTGRES)('cluster: four restarts of workers by SIGTERM, no caller notices', () => {
    const faults = Array(4).fill('term-worker').join();
    return expectPassed('--seed', '3', '--topology', 'cluster', '--faults', faults);
  });
});
