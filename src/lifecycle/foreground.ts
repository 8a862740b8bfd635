import { Writable } from 'node:stream'
import type { CommandContext } from '../cli/command.ts'
import type { DaemonRegistration } from '../client/discover.ts'
import type { Launch } from './launch.ts'
import { readRecord, recordLine } from './log/log-record.ts'
import { passphraseFor } from './passphrase.ts'
import { runDaemon } from './run.ts'

type Context = Pick<CommandContext<unknown, unknown>, 'places' | 'system' | 'signal' | 'io'>

/** Runs the daemon in this process until ctrl-c, logging to the terminal. */
export async function serveHere(host: Context, launch: Launch): Promise<DaemonRegistration> {
  const { io } = host
  const logTo = new Writable({
    decodeStrings: false,
    write(chunk: Uint8Array | string, _encoding, done) {
      for (const line of String(chunk).trimEnd().split('\n')) {
        if (io.settings.format === 'human') io.line(recordLine(readRecord(line)))
        else io.jsonLine(readRecord(line).fields)
      }
      done()
    },
  })
  return runDaemon(
    { ...host, options: launch },
    {
      logTo,
      passphrase: await passphraseFor(host, launch),
      onReady: ({ url, pid }) => io.say(`● running   ${url}   pid ${pid}   ctrl-c stops it`),
    },
  )
}
