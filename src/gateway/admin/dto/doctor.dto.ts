import {
  choiceField,
  flagField,
  listField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

class DiagnosisDto extends answer({
  what: textField({ example: 'ffmpeg' }),
  state: choiceField(
    ['ok', 'warn', 'fail'],
    'warn: works without; fail: will not work as configured.',
  ),
  detail: String,
  fix: optionalField(textField('The command or the change that puts it right.')),
}) {}

export class DoctorDto extends answer({
  ok: flagField('Nothing failed.'),
  checks: listField(DiagnosisDto),
}) {}
