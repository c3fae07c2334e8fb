import {
  choiceField,
  constantField,
  flagField,
  listField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../../../http/openapi/answer.js';

class AlertDto extends answer({
  name: textField({ example: 'SwitchyardQueueFull' }),
  state: choiceField(['pending', 'firing']),
  severity: optionalField(textField({ example: 'warning' })),
  since: numberField('Unix seconds.'),
  summary: optionalField(String),
  runbook_url: optionalField(
    textField({
      example: 'docs/operate/runbook.md#switchyardqueuefull',
      description: 'What to do: a web address, or a path of the manual.',
    }),
  ),
}) {}

export class AlertListDto extends answer({
  object: constantField('list'),
  configured: flagField('Whether `console.prometheus_url` is set.'),
  data: listField(AlertDto, 'Firing ones first; at most 100.'),
  problem: optionalField(textField('Why Prometheus could not be asked.')),
}) {}
