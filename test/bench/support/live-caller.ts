import { credentials, type ClientDuplexStream } from '@grpc/grpc-js';
import {
  decodeStreamEvent,
  STREAM_COMMIT,
  audioMessage,
  streamConfigMessage,
} from '@switchyard/worker-protocol/call.codec.js';
import {
  SpeechToTextStub,
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import { WebSocket } from 'ws';

/** One live session of 16 kHz PCM whose utterances end by commit. */
export interface LiveCaller {
  send(frame: Buffer): void;
  /** Resolves with the final text. */
  commit(): Promise<string>;
  close(): Promise<void>;
}

/** Finals in order to whoever committed in order. */
class Finals {
  readonly #waiting: ((text: string) => void)[] = [];

  next(): Promise<string> {
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  tell(text: string): void {
    this.#waiting.shift()?.(text);
  }
}

/** Through the gateway, as a client. */
export async function gatewayCaller(port: number, model: string): Promise<LiveCaller> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime?model=${model}`);
  const finals = new Finals();
  const ready = new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.on('message', data => {
      const event = JSON.parse((data as Buffer).toString()) as {
        type: string;
        transcript?: string;
      };
      if (event.type === 'session.updated') resolve();
      if (event.type === 'error') reject(new Error(JSON.stringify(event)));
      if (event.type.endsWith('.completed')) finals.tell(event.transcript ?? '');
    });
  });
  socket.once('open', () => {
    const input = { format: { type: 'audio/pcm', rate: 16_000 }, turn_detection: null };
    socket.send(
      JSON.stringify({
        type: 'session.update',
        session: { type: 'transcription', audio: { input } },
      }),
    );
  });
  await ready;
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()));
  return {
    send: frame => socket.send(frame),
    commit: () => {
      socket.send('{"type":"input_audio_buffer.commit"}');
      return finals.next();
    },
    close: () => {
      socket.close(1000);
      return closed;
    },
  };
}

/** On the worker itself: the baseline. One connection for all, as the gateway has. */
export function directCallers(address: string): (id: number) => LiveCaller {
  const stub = new SpeechToTextStub(address, credentials.createInsecure());
  return id => {
    const call: ClientDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse> =
      stub.transcribeStream();
    const finals = new Finals();
    call.on('data', (message: TranscribeStreamResponse) => {
      const event = decodeStreamEvent(message);
      if (event && event !== 'ready' && event.type === 'final') finals.tell(event.text);
    });
    const sessionId = `direct-${id}`;
    call.write(
      streamConfigMessage({
        sessionId,
        language: '',
        prompt: '',
        sampleRate: 16_000,
        partials: true,
      }),
    );
    return {
      send: frame => void call.write(audioMessage(frame)),
      commit: () => {
        call.write(STREAM_COMMIT);
        return finals.next();
      },
      close: () => {
        call.end();
        return new Promise(resolve => call.once('end', resolve));
      },
    };
  };
}
