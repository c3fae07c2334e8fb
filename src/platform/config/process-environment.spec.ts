import { describe, expect, it } from '@jest/globals';
import { inheritedEnvironment } from './process-environment.js';

describe('the environment of a worker', () => {
  it.each([
    'PATH',
    'HOME',
    'LANG',
    'LC_ALL',
    'TZ',
    'LD_LIBRARY_PATH',
    'CUDA_VISIBLE_DEVICES',
    'NVIDIA_VISIBLE_DEVICES',
    'ONNXRUNTIME_LOG',
    'OMP_NUM_THREADS',
    'HF_HOME',
    'HF_TOKEN_PATH',
    'SSL_CERT_FILE',
    'NODE_EXTRA_CA_CERTS',
    'npm_command',
  ])('has %s', name => expect(inheritedEnvironment({ [name]: 'x' })).toEqual({ [name]: 'x' }));

  it.each([
    'SWITCHYARD_AUTH_KEYS_FILE',
    'SWITCHYARD_WORKER_SPEC',
    'NODE_OPTIONS',
    'DATABASE_URL',
    'OPENAI_API_KEY',
    'HF_TOKEN',
    'PATHS',
  ])('has no %s', name => expect(inheritedEnvironment({ [name]: 'x' })).toEqual({}));
});
