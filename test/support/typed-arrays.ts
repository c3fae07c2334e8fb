/**
 * Native code makes typed arrays of Node's own realm; jest runs specs in another one, where onnxruntime and sherpa-onnx
 * take them for strangers (`instanceof`). To be imported before either is loaded; `structuredClone` answers with Node's
 * own.
 */
for (const Made of [Float32Array, Float64Array, Int32Array, BigInt64Array]) {
  const { constructor } = structuredClone(new Made(1));
  Object.defineProperty(globalThis, Made.name, { value: constructor, configurable: true, writable: true });
}
