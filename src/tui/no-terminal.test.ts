import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'

/* The built program where nobody looks at a screen. */

const exec = promisify(execFile)
let env: Record<string, string>
const souk = async (...words: string[]) => (await exec(process.execPath, [PROGRAM, ...words], { env })).stdout

beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), 'souk-no-terminal-'))
  env = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home, CI: 'true' }
  await souk('up', '--port', '0')
})

afterAll(async () => {
  await souk('down', '--force')
  await rm(env.HOME ?? '', { recursive: true, force: true })
})

describe('without a terminal', () => {
  it('the cockpit is the status', async () => {
    expect(await souk('tui')).toContain('● running')
  })

  it('data is not what the cockpit is for: it says so and exits 2', async () => {
    const ended = await exec(process.execPath, [PROGRAM, 'tui', '--json'], { env }).catch((error: unknown) => error)
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/needs a terminal\..* status"/) })
  })

  it('souk alone is the status', async () => {
    expect(await souk()).toContain('● running')
  })
})
