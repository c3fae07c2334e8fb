import { Module } from '@nestjs/common';
import { builtConsole, CONSOLE_FOLDER, ConsoleController } from './console.controller.js';
import { ConsoleSessionController } from './session.controller.js';

/** The browser console: its built files, and who is signed in. */
@Module({
  controllers: [ConsoleSessionController, ConsoleController],
  providers: [{ provide: CONSOLE_FOLDER, useFactory: builtConsole }],
})
export class ConsoleModule {}
