import { S3Server } from '../../support/s3-server.js';

/** A bucket on a server of its own, to be killed and stopped: `s3-process.ts PORT FOLDER`. */
await S3Server.start({ port: Number(process.argv[2]), folder: process.argv[3]! });
process.on('disconnect', () => process.exit());
