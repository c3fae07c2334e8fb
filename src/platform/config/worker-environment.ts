/**
 * What a worker process inherits of the gateway's environment: what programs need to find themselves, and what tunes native
 * code. Nothing else: the gateway's own settings and secrets (`SWITCHYARD_…`, keys, database urls) are none of its business, and
 * `NODE_OPTIONS` such as `--inspect` cannot be shared. `replicas: [{ env: … }]` adds to it.
 */
export const INHERITED_VARIABLES: readonly RegExp[] = [
  /^(PATH|HOME|USER|SHELL|LANG|LANGUAGE|TZ|TMPDIR)$/,
  /^(LC|XDG)_/,
  /^(DY)?LD_LIBRARY_PATH$/,
  // Certificate authorities, for engines that call servers.
  /^(SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS)$/,
  /^(CUDA|NVIDIA|NCCL|CUDNN|ROCR|HIP|HSA)_/,
  /^(ONNXRUNTIME|ORT|OMP|KMP|GOMP|MKL|OPENBLAS|HF)_/,
];

export const inheritedEnvironment = (base: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(base).filter(([name]) => INHERITED_VARIABLES.some(rule => rule.test(name))));
