import { Module } from '@nestjs/common';
import { ConsoleFiles } from './console-files.js';
import { ConsoleController } from './console.controller.js';
import { ConsoleSessionController } from './session.controller.js';

/** The browser console: its built files, and who is signed in. */
@Module({
  controllers: [ConsoleSessionController, ConsoleController],
  providers: [ConsoleFiles],
})
export class ConsoleModule {}
