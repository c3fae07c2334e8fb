import { flagField, listField, numberField, answer } from '../../http/openapi/answer.js';
import { QueueLineDto, QueueTotalDto } from './queue-line.dto.js';

class QueueBoundsDto extends answer({
  max_requests: Number,
  max_requests_per_model: Number,
  max_bytes: Number,
  max_bytes_per_model: Number,
  realtime_reserve: numberField('Share of each bound that only realtime may use.'),
}) {}

export class QueueDto extends answer({
  accepting: flagField('False once the server drains.'),
  total: QueueTotalDto,
  bounds: QueueBoundsDto,
  models: listField(QueueLineDto),
}) {}
