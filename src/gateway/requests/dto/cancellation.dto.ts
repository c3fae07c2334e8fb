import { answer, flagField, textField } from '../../http/openapi/answer.js';

/** Answer of every cancel route. */
export class CancellationDto extends answer({
  request_id: textField({ example: 'req_0198a1b2c3d4' }),
  cancelled: flagField(
    'true when this call cancelled it; false when it was unknown, finished or cancelled before.',
  ),
}) {}
