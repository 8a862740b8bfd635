import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fieldPart, filePart, formBytes, type Part, sendForm, storedFiles } from '../../../fixtures/kit/forms.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import { openTalk, type Talk } from '../../../fixtures/market/negotiation.ts'
import { type Person, registered, stranger } from '../../../fixtures/market/people.ts'
import { MAX_ATTACHMENT_BYTES } from '../../../src/core/limits.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

// @story one conversation and its files, each identity counted

let escrow: Escrow
let other: Person
let talk: Talk
beforeAll(async () => {
  escrow = await openEscrow()
  other = await registered(escrow.market, { type: 'agent' })
  talk = await openTalk(escrow)
})
afterAll(() => escrow.close())

const outcome = (answer: Answer) => [answer.status, answer.body?.code]
const attach = (who: Person, thread: string, parts: Part[] = [filePart('the words')]) =>
  sendForm(escrow.market, { path: `/v1/threads/${thread}/upload`, key: who.key, body: formBytes(parts) })
const read = (who: Person, thread: string, file: string) => who.call('GET', `/v1/threads/${thread}/files/${file}`)

test('a file is a message of its own, and both sides read it as an attachment', async () => {
  const sent = await attach(talk.agent, talk.thread, [fieldPart('message', 'See here.'), filePart('the words')])
  expect(sent.body).toMatchObject({
    file_id: sent.body.id,
    thread_id: talk.thread,
    author_role: 'buyer',
    name: 'notes.txt',
    size_bytes: 9,
    content_type: 'text/plain',
    download_url: `${escrow.market.url()}/v1/threads/${talk.thread}/files/${sent.body.id}`,
  })
  const { body } = await talk.provider.call('GET', talk.at())
  expect(body.messages.at(-1)).toMatchObject({
    id: sent.body.message_id,
    type: 'file',
    author_role: 'buyer',
    body: 'See here.',
    file_id: sent.body.id,
  })
  for (const who of [talk.agent, talk.provider]) {
    const file = await read(who, talk.thread, sent.body.id)
    expect([file.status, file.text, file.headers.get('content-disposition')]).toEqual([
      200,
      'the words',
      `attachment; filename="notes.txt"; filename*=UTF-8''notes.txt`,
    ])
    expect(file.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  }
  await deliveryWorker.of(escrow.ctx()).idle()
  const told = escrow.hook.received.map((one) => one.body).find((one) => one.file_id === sent.body.id)
  expect(told).toMatchObject({ type: 'new_message', thread_id: talk.thread, message: 'See here.' })
})

test('without words of its own a file is shown by its name', async () => {
  const sent = await attach(talk.provider, talk.thread, [filePart('x', { filename: 'Entwurf №2.pdf' })])
  const { body } = await talk.agent.call('GET', talk.at())
  expect([sent.body.author_role, body.messages.at(-1).body]).toEqual(['provider', 'Entwurf №2.pdf'])
})

test('for others there is neither file nor upload, and nothing of it is kept', async () => {
  const sent = await attach(talk.agent, talk.thread)
  const elsewhere = await openTalk(escrow)
  const before = await storedFiles(escrow.market)
  const more = [filePart('something else')]
  expect(outcome(await attach(other, talk.thread, more))).toEqual([403, 'forbidden'])
  expect(outcome(await attach(talk.agent, 'thr_0123456789abcdef', more))).toEqual([404, 'not_found'])
  expect(outcome(await read(other, talk.thread, sent.body.id))).toEqual([403, 'forbidden'])
  expect(outcome(await read(talk.provider, elsewhere.thread, sent.body.id))).toEqual([404, 'not_found'])
  expect(outcome(await read(talk.provider, talk.thread, 'file_0123456789abcdef'))).toEqual([404, 'not_found'])
  expect(outcome(await escrow.market.call('GET', `/v1/threads/${talk.thread}/files/${sent.body.id}`))).toEqual([
    401,
    'unauthorized',
  ])
  expect(await storedFiles(escrow.market)).toEqual(before)
})

test('a cancelled conversation takes none, and keeps those that it has', async () => {
  const ended = await openTalk(escrow)
  const sent = await attach(ended.agent, ended.thread)
  await ended.agent.call('POST', ended.at('decline'), {})
  const before = await storedFiles(escrow.market)
  expect(outcome(await attach(ended.agent, ended.thread, [filePart('too late')]))).toEqual([409, 'conflict'])
  expect(await storedFiles(escrow.market)).toEqual(before)
  expect((await read(ended.provider, ended.thread, sent.body.id)).text).toBe('the words')
})

test('a conversation has at most 20 files, both sides together, however they arrive', async () => {
  const full = await openTalk(escrow)
  const sides = Array.from({ length: 24 }, (_, at) => (at % 2 === 0 ? full.agent : full.provider))
  const answers = await Promise.all(sides.map((who, at) => attach(who, full.thread, [filePart(`file ${at}`)])))
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(20)
  for (const refused of answers.filter((answer) => answer.status !== 200))
    expect(outcome(refused)).toEqual([409, 'conflict'])
  expect(outcome(await attach(full.agent, full.thread))).toEqual([409, 'conflict'])
})

test('10 MiB fit, and one byte more does not', async () => {
  const before = await storedFiles(escrow.market)
  const over = await attach(talk.agent, talk.thread, [filePart(Buffer.alloc(MAX_ATTACHMENT_BYTES + 1))])
  expect([...outcome(over), over.body.details[0].path]).toEqual([413, 'too_large', 'file'])
  expect(await storedFiles(escrow.market)).toEqual(before)
  const most = await attach(talk.agent, talk.thread, [filePart(Buffer.alloc(MAX_ATTACHMENT_BYTES))])
  expect([most.status, most.body.size_bytes]).toEqual([200, MAX_ATTACHMENT_BYTES])
})

test('a form as JSON is no file', async () => {
  expect(outcome(await talk.agent.call('POST', talk.at('upload'), { message: 'x' }))).toEqual([
    415,
    'unsupported_media_type',
  ])
})

describe('evidence of a dispute', () => {
  const complaint = { reason: 'Half of it is missing.', category: 'quality' }

  async function delivered() {
    const who = await escrow.agent()
    const { body } = await escrow.buy(await escrow.list('human'), who)
    await escrow.provider.call('POST', `/v1/jobs/${body.job_id}/update`, { status: 'completed', deliverables: {} })
    return { who, job: body.job_id as string, thread: body.thread_id as string }
  }

  test('is a file of the same conversation', async () => {
    const { who, job, thread } = await delivered()
    const sent = await attach(who, thread)
    const evidence = [sent.body.id]
    const answer = await who.pay(`/v1/jobs/${job}/dispute`, { body: { ...complaint, evidence } })
    expect(answer.body.dispute, answer.text).toMatchObject({ status: 'open', evidence })
  })

  test.each(['payment', 'key'])('of another conversation is refused before any charge, by %s', async (door) => {
    const { who, job, thread } = await delivered()
    const { body: foreign } = await attach(talk.agent, talk.thread)
    const { body: own } = await attach(who, thread)
    const before = await escrow.onChain(who)
    const body = { ...complaint, evidence: [own.id, foreign.id] }
    const path = `/v1/threads/${thread}/dispute`
    const answer = door === 'key' ? await who.call('POST', path, body) : await who.pay(path, { body })
    expect([...outcome(answer), answer.body.details[0].path]).toEqual([400, 'invalid_request', 'evidence.1'])
    expect([await escrow.onChain(who), (await escrow.job(job)).status]).toEqual([before, 'completed'])
  })
})

describe('who bought without an account', () => {
  async function guest() {
    const { body } = await escrow.buy(await escrow.list('human'), await stranger(escrow.market))
    const headers = { Authorization: `Bearer ${body.access_token}` }
    const at = `/v1/threads/${body.thread_id}`
    return {
      job: body.job_id as string,
      at,
      headers,
      attach: (path: string, part: Part) =>
        sendForm(escrow.market, { path: `${path}/upload`, headers, body: formBytes([part]) }),
      read: (path: string) => escrow.market.call('GET', path, { headers }),
    }
  }

  test('attaches evidence by the token of the job, within the same bounds', async () => {
    const ann = await guest()
    const sent = await ann.attach(ann.at, filePart('the words'))
    expect([sent.status, sent.body.author_role]).toEqual([200, 'buyer'])
    expect((await ann.read(`${ann.at}/files/${sent.body.id}`)).text).toBe('the words')
    expect((await ann.read(ann.at)).body.messages.at(-1)).toMatchObject({ type: 'file', file_id: sent.body.id })
    const over = await ann.attach(ann.at, filePart(Buffer.alloc(MAX_ATTACHMENT_BYTES + 1)))
    expect(outcome(over)).toEqual([413, 'too_large'])
    const more = await Promise.all(Array.from({ length: 22 }, (_, at) => ann.attach(ann.at, filePart(`${at}`))))
    expect(more.filter(({ status }) => status === 200)).toHaveLength(19)
  })

  test('opens nothing else with it: no other guest’s conversation, none without a job, no list', async () => {
    const [ann, ben] = [await guest(), await guest()]
    const sent = await ben.attach(ben.at, filePart('of Ben'))
    const before = await storedFiles(escrow.market)
    for (const at of [ben.at, `/v1/threads/${talk.thread}`]) {
      expect(outcome(await ann.attach(at, filePart('not Ann’s to say')))).toEqual([401, 'unauthorized'])
      expect(outcome(await ann.read(at))).toEqual([401, 'unauthorized'])
      expect(outcome(await ann.read(`${at}/files/${sent.body.id}`))).toEqual([401, 'unauthorized'])
    }
    expect(outcome(await ann.read(`${ann.at}/files/${sent.body.id}`))).toEqual([404, 'not_found'])
    expect(outcome(await ann.read('/v1/threads'))).toEqual([401, 'unauthorized'])
    expect(await storedFiles(escrow.market)).toEqual(before)
  })

  test('can do so until 30 days after the job ended', async () => {
    const ann = await guest()
    const sent = await ann.attach(ann.at, filePart('the words'))
    await escrow.provider.call('POST', `/v1/jobs/${ann.job}/update`, { status: 'failed' })
    const file = `${ann.at}/files/${sent.body.id}`
    escrow.pass(30 * DAY_MS - 60_000)
    expect((await ann.read(file)).status).toBe(200)
    escrow.pass(120_000)
    expect([outcome(await ann.read(file)), outcome(await ann.attach(ann.at, filePart('late')))]).toEqual([
      [401, 'unauthorized'],
      [401, 'unauthorized'],
    ])
  })
})

describe('the operator', () => {
  test('reads the files of a conversation, each time in the log, and puts none in', async () => {
    const sent = await attach(talk.agent, talk.thread)
    const path = `/v1/threads/${talk.thread}`
    const reads = async () => {
      const { body } = await escrow.market.admin('GET', '/dashboard/api/admin/log?limit=100')
      return body.acts.filter(({ act }: { act: string }) => act === 'file.read')
    }
    const before = (await reads()).length
    const file = await escrow.market.admin('GET', `${path}/files/${sent.body.id}`)
    const part = await escrow.market.admin('GET', `${path}/files/${sent.body.id}`, { headers: { Range: 'bytes=0-2' } })
    expect([file.text, part.status, part.text]).toEqual(['the words', 206, 'the'])
    expect(outcome(await escrow.market.admin('GET', `${path}/files/file_0123456789abcdef`))).toEqual([404, 'not_found'])
    const written = await reads()
    expect(written.length - before).toBe(2)
    expect(written[0]).toMatchObject({
      subject: { kind: 'file', id: sent.body.id },
      detail: { thread_id: talk.thread, job_id: null, sha256: sent.body.sha256 },
      request_id: part.headers.get('x-request-id'),
    })
    expect(outcome(await escrow.market.admin('GET', path))).toEqual([401, 'unauthorized'])
    expect((await talk.agent.call('GET', '/v1/events')).text).not.toContain('file.read')
  })

  test.each([`adm_${'0'.repeat(40)}`, 'adm_'])('is not who says %s', async (key) => {
    const sent = await attach(talk.agent, talk.thread)
    const headers = { Authorization: `Bearer ${key}` }
    const path = `/v1/threads/${talk.thread}/files/${sent.body.id}`
    expect(outcome(await escrow.market.call('GET', path, { headers }))).toEqual([401, 'unauthorized'])
  })
})

test('housekeeping removes files that no record names, after a day', async () => {
  const { blobs } = escrow.ctx()
  const named = await attach(talk.agent, talk.thread, [filePart('kept for its conversation')])
  const orphan = await blobs.put(Readable.from([Buffer.from('nobody names this')]), 100)
  const keep = () => escrow.market.admin('POST', '/dashboard/api/admin/crons/housekeeping/run')
  await keep()
  expect(await blobs.stat(orphan.sha256)).toBeDefined()
  escrow.pass(DAY_MS + 60_000, { wall: true })
  expect((await keep()).body.run.result).toBe('success')
  expect(await blobs.stat(orphan.sha256)).toBeUndefined()
  expect(await blobs.stat(named.body.sha256)).toBeDefined()
  expect((await storedFiles(escrow.market)).every((name) => !name.startsWith('incoming'))).toBe(true)
})
