import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isObject } from '../../../src/core/json.ts'
import { readSigner } from '../../../src/core/signer-target.ts'
import { type ExternalSigner, openExternalSigner } from './external-signer.ts'
import { openKey, type Signer, SignerUnavailableError } from './key.ts'
import { openRecover, type Recover } from './signature.ts'

/* A key outside of the daemon: what its signer may do, and that it is asked again. */

/** Of signers that say nothing; others may take as long as this machine needs. */
const SHORT_MS = 100
const PATIENT_MS = 4_000
const digest = randomBytes(32)
const folder = mkdtempSync(join(tmpdir(), 'souk-signer-'))
let recover: Recover
let key: Signer
let other: Signer
let now = 0
let server: Server | undefined
let signer: ExternalSigner | undefined

beforeAll(async () => {
  recover = await openRecover()
  key = await openKey(randomBytes(32).toString('hex'))
  other = await openKey(randomBytes(32).toString('hex'))
  return () => rmSync(folder, { recursive: true, force: true })
})
afterEach(async () => {
  signer?.close()
  server?.closeAllConnections()
  await new Promise<void>((done) => (server ? server.close(() => done()) : done()))
  server = undefined
})

function opened(target: string, silenceMs?: number): ExternalSigner {
  const parts = { target, role: 'gas', address: key.address, recover, wall: () => now } as const
  signer = openExternalSigner({ ...parts, ...(silenceMs === undefined ? {} : { silenceMs }) })
  return signer
}
async function served(answer: RequestListener): Promise<string> {
  server = createServer(answer)
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/sign`
}
/** A program that ignores the request and runs this. */
const script = (...lines: string[]) => {
  const file = join(folder, `${randomBytes(4).toString('hex')}.sh`)
  writeFileSync(file, ['#!/bin/sh', ...lines].join('\n'), { mode: 0o700 })
  return `exec:${file} --token=hidden`
}
const says = (text: string) => `printf '%s\\n' '${text}'`
const goodAnswer = async () => JSON.stringify({ signature: await key.sign(digest) })

describe('a signer', () => {
  test('gets one line with role, address and digest, and its signature is used', async () => {
    const asked: unknown[] = []
    const url = await served((req, res) => {
      req.setEncoding('utf8').on('data', (text: string) => asked.push(text))
      req.on('end', async () => res.end(await goodAnswer()))
    })
    expect(await opened(url).sign(digest)).toBe(await key.sign(digest))
    const line = { role: 'gas', address: key.address, digest: `0x${digest.toString('hex')}` }
    expect(asked).toEqual([`${JSON.stringify(line)}\n`])
  })

  test('may be a program, which reads that line', async () => {
    const file = join(folder, 'asked')
    const signed = await opened(script(`cat > ${file}`, says(await goodAnswer()))).sign(digest)
    expect(signed).toBe(await key.sign(digest))
  })

  test('that says v as 0 or 1 is understood', async () => {
    const signature = await key.sign(digest)
    const v = (Number.parseInt(signature.slice(-2), 16) - 27).toString(16).padStart(2, '0')
    const answer = JSON.stringify({ signature: `${signature.slice(0, -2)}${v}` })
    expect(await opened(script(says(answer))).sign(digest)).toBe(signature)
  })

  test('may take its time while it says something', async () => {
    const wait = 'sleep 1.2; echo waiting for the button >&2'
    const target = script(wait, wait, wait, wait, says(await goodAnswer()))
    expect(await opened(target, PATIENT_MS).sign(digest)).toMatch(/^0x/)
  })
})

const lying: readonly (readonly [string, () => Promise<string> | string, RegExp])[] = [
  [
    'signs with another key',
    async () => script(says(JSON.stringify({ signature: await other.sign(digest) }))),
    /it signed with 0x/,
  ],
  ['hangs', () => script('sleep 60'), /did not finish in time/],
  ['dies', () => script('echo no card in the reader >&2', 'exit 3'), /exited with 3: no card in the reader/],
  ['does not exist', () => 'exec:/none/here', /exited with 127/],
  ['says nothing', () => script('exit 0'), /its answer is not/],
  ['sends no JSON', () => script(says('yes')), /its answer is not/],
  ['sends a short signature', () => script(says('{"signature":"0x1234"}')), /its answer is not/],
  ['sends another number of bytes', () => script('head -c 70000 /dev/zero'), /produced more than 4096 bytes/],
  ['is a server that is away', () => 'http://127.0.0.1:1/', /ECONNREFUSED/],
  ['is a server with another status', () => served((_, res) => void res.writeHead(403).end()), /returned status 403/],
  ['is a server that says too much', () => served((_, res) => void res.end('x'.repeat(5_000))), /more than 4096 bytes/],
  ['is a server that hangs', () => served(() => undefined), /UND_ERR_HEADERS_TIMEOUT/],
]
describe('a signer that', () => {
  test.each(lying)('%s is told of, and asked again', async (what, target, why) => {
    const failing = opened(await target(), what.endsWith('hangs') ? SHORT_MS : undefined)
    await expect(failing.sign(digest)).rejects.toThrow(SignerUnavailableError)
    expect(failing.fault()).toMatch(why)
    expect(failing.fault()).toContain(`The signer of the gas key ${key.address}`)
    expect(failing.fault()).not.toContain('hidden')
    await expect(failing.sign(digest)).rejects.toThrow(why)
  })

  test('works again needs no restart', async () => {
    const file = join(folder, 'card')
    const back = opened(script(`test -e ${file} || exit 1`, says(await goodAnswer())))
    await expect(back.sign(digest)).rejects.toThrow(SignerUnavailableError)
    writeFileSync(file, '')
    await expect(back.sign(digest)).rejects.toThrow(SignerUnavailableError)
    now += 1_001
    expect(await back.sign(digest)).toBe(await key.sign(digest))
    expect(back.fault()).toBeUndefined()
  })

  test('has not answered yet is told of after five seconds', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const slow = opened(
      await served(async (req, res) => {
        req.resume()
        resolve()
        await new Promise((done) => req.once('close', done))
        res.end()
      }),
    )
    const signed = slow.sign(digest).catch(String)
    await promise
    expect(slow.fault()).toBeUndefined()
    now += 6_000
    expect(slow.fault()).toContain('no answer for 6 s')
    slow.close()
    expect(await signed).toContain('SignerUnavailableError')
  })
})

test.each(['exec:', 'http://example.org/sign', 'https://me:secret@example.org/', 'ftp://127.0.0.1/', 'sign.sh'])(
  '%s is no signer',
  (text) => expect(readSigner(text)).toBeUndefined(),
)

test('the name of a signer has no arguments, path or query', () => {
  expect(readSigner('exec:/opt/sign --pin=1234')?.shown).toBe('exec:/opt/sign')
  expect(readSigner('https://sign.example.org/v1?token=1')?.shown).toBe('https://sign.example.org')
  expect(isObject(readSigner('http://127.0.0.1:9/'))).toBe(true)
})
