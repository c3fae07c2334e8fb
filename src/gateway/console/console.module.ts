import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { ConsoleSessionController } from './session.controller.js';

/** The browser console: its built files, and who is signed in. */
@Module({
  controllers: [ConsoleSessionController, ConsoleController],
})
export class ConsoleModule {}
