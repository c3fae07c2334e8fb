/** A form of these fields and one file. */
export function formOf(
  fields: Readonly<Record<string, string>>,
  file: string | Uint8Array | ArrayBuffer = 'audio',
  name = 'a.wav',
): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set('file', new Blob([typeof file === 'string' ? file : new Uint8Array(file)]), name);
  return form;
}
