import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'

// @slow conversations by the command line

/* Two people who agree on a price, or do not, at a real, detached daemon; and who rules between them. */

let user: User
let home: string
let service: string

beforeAll(async () => {
  user = await openUserAtMarket()
  home = user.home
  for (const name of ['buyer', 'seller']) await user.register(name, '20.00')
  const listing = ['name=Portrait', 'description=Drawn', 'pricing_model=quote_required', 'fulfillment_type=human']
  service = (await json('services', 'create', ...listing.flatMap((one) => ['--set', one]), '--as', 'seller')).id
})

afterAll(() => user.close())

const souk = (...words: string[]) => user.souk(...words)
const json = (...words: string[]) => user.json(...words)

const asked = async () =>
  (await json('services', 'inquire', service, '-m', 'A cat, please', '--as', 'buyer')).thread_id as string
const buyer = (...words: string[]) => json('threads', ...words, '--as', 'buyer')
const seller = (...words: string[]) => json('threads', ...words, '--as', 'seller')

async function agreed(): Promise<{ thread: string; job: string }> {
  const thread = await asked()
  await seller('propose', thread, '--price', '2.00', '--days', '3', '-m', 'In ink')
  const { job_id: job } = await buyer('accept', thread, '--yes', '--max-price', '5')
  return { thread, job }
}

async function delivered() {
  const agreement = await agreed()
  const file = join(home, 'cat.json')
  writeFileSync(file, JSON.stringify({ picture: 'a cat' }))
  await seller('update', agreement.thread, '--status', 'in_progress', '--progress', '40')
  await seller('update', agreement.thread, '--status', 'completed', '--deliverable', file)
  return agreement
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function ofDaemon(): Promise<{ url: string; admin_key: string }> {
  const { url } = await json('status')
  return { url, admin_key: readFileSync(join(home, '.local/share/souk/default/admin.key'), 'utf8') }
}

/** Passes everything on to an instance, and changes what its JSON says. */
async function forwarding(to: string, change: (text: string) => string) {
  const server = createServer(async ({ method = 'GET', url = '/', headers: { authorization = '' } }, res) => {
    const answer = await fetch(to + url, { method, headers: { authorization } })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    const digest = answer.headers.get('repr-digest')
    res.writeHead(answer.status, digest ? { 'repr-digest': digest } : {})
    res.end(isJson ? change(bytes.toString()) : bytes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  return { url: `http://127.0.0.1:${port}`, close: () => new Promise((done) => server.close(done)) }
}

describe('two people', () => {
  it('agree on a price, deliver, and are done', async () => {
    const thread = await asked()
    await buyer('send', thread, 'With a hat?')
    const offered = await seller('propose', thread, '--price', '2.00', '--days', '3')
    expect(offered.proposal).toMatchObject({ agent_price: '2.10', estimated_delivery: '3 days' })
    const before = Number((await json('wallet', 'fund', 'buyer', '--amount', '0.01')).balance)
    const accepted = await buyer('accept', thread, '--yes', '--max-price', '5')
    expect(accepted).toMatchObject({ thread_id: thread, payment: { method: 'x402', amount: '2.10' }, amount: '2.10' })
    const after = Number((await json('wallet', 'fund', 'buyer', '--amount', '0.01')).balance)
    expect(before - after).toBeCloseTo(2.09, 6)
    const view = await buyer('view', thread)
    expect([view.status, view.job_id, view.messages.map((one: { type: string }) => one.type)]).toEqual([
      'accepted',
      accepted.job_id,
      ['message', 'message', 'proposal', 'status'],
    ])
    expect((await buyer('list', '--status', 'accepted', '--role', 'buyer')).threads[0].thread_id).toBe(thread)
  })

  it('end with a verified delivery, and the books are whole', async () => {
    const { thread } = await delivered()
    expect((await buyer('verify', thread, '--rating', '5')).job.verification).toMatchObject({ by: 'buyer', rating: 5 })
    expect((await buyer('view', thread)).status).toBe('verified')
    expect((await json('money', 'audit')).ok).toBe(true)
  })

  it('hear each other as they speak, until one of them ends it', async () => {
    const thread = await asked()
    const heard = souk('threads', 'view', thread, '--follow', '--ndjson', '--as', 'seller')
    await buyer('send', thread, '-m', 'Are you there?')
    await buyer('decline', thread)
    const { code, out } = await heard
    const [first, ...said] = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([code, first.thread_id]).toEqual([0, thread])
    const all = [...first.messages, ...said].map((one: { body: string }) => one.body)
    expect(all).toEqual(['A cat, please', 'Are you there?', 'The buyer declined.'])
  })

  it.each(['buyer', 'seller'])('may be told no by the %s', async (who) => {
    const thread = await asked()
    await seller('propose', thread, '--price', '2.00')
    const declined = await json('threads', 'decline', thread, '--reason', 'no', '--as', who)
    expect([declined.status, declined.proposal.status]).toEqual(['cancelled', 'declined'])
    const { code, err } = await souk('threads', 'accept', thread, '--yes', '--as', 'buyer')
    expect([code, err]).toEqual([6, expect.stringContaining('the proposal is declined')])
  })

  it('give the payment back when the job is cancelled, which asks first', async () => {
    const { thread } = await agreed()
    expect((await souk('threads', 'decline', thread, '--as', 'buyer')).code).toBe(2)
    expect((await buyer('decline', thread, '--yes')).job.escrow.status).toBe('refunded')
  })
})

describe('nothing is paid', () => {
  it.each([
    [[], 2, 'Confirmation needed'],
    [['--yes'], 5, 'above the limit of $1.00'],
    [['--yes', '--max-price', '5', '--pay', 'none'], 5, '--pay none forbids paying'],
    [['--yes', '--max-price', '5', '--as', 'seller'], 4, 'does not belong to you'],
  ])('by accept %j', async (words, exit, why) => {
    const thread = await asked()
    await seller('propose', thread, '--price', '2.00')
    const who = words.includes('--as') ? [] : ['--as', 'buyer']
    const { code, err } = await souk('threads', 'accept', thread, ...words, ...who)
    expect({ code, err }).toEqual({ code: exit, err: expect.stringContaining(why) })
    expect((await buyer('view', thread)).status).toBe('negotiating')
  })

  it('for another proposal than the one that was shown, also where it costs less', async () => {
    const thread = await asked()
    const { proposal } = await seller('propose', thread, '--price', '2.00')
    const later = (await seller('propose', thread, '--price', '1.90', '--days', '90')).proposal
    const accept = (at: string) =>
      souk('threads', 'accept', thread, '--proposal', at, '--yes', '--max-price', '2.10', '--as', 'buyer')
    const { code, err } = await accept(proposal.proposed_at)
    const said = `The offer has changed: $1.995 since ${later.proposed_at}.`
    expect({ code, err }).toEqual({ code: 6, err: expect.stringContaining(said) })
    expect((await buyer('view', thread)).status).toBe('negotiating')
    expect((await accept(later.proposed_at)).code).toBe(0)
  })

  it.each([
    [['services', 'inquire', 'SERVICE'], 'Give your question'],
    [['threads', 'send', 'thr_0123456789abcdef'], 'Give the message once'],
    [['threads', 'propose', 'thr_0123456789abcdef'], 'price'],
    [['threads', 'propose', 'thr_0', '--price', '1', '--days', '1', '--delivery', 'x'], 'once'],
    [['threads', 'update', 'thr_0', '--status', 'completed', '--deliverable', 'gone.json'], 'no file'],
    [['admin', 'jobs', 'resolve', 'job_0', '--outcome', 'split', '--reason', 'x'], 'needs --buyer-amount'],
  ])('by souk %j, which is not a command yet', async (words, why) => {
    const { code, err } = await souk(...words.map((word) => (word === 'SERVICE' ? service : word)), '--as', 'buyer')
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(why) })
  })
})

describe('a dispute', () => {
  const texts = { 'cat.txt': 'a cat', 'dog.txt': 'a dog' }
  const attach = async (thread: string, who: string) => {
    const paths = Object.entries(texts).map(([name, text]) => {
      writeFileSync(join(home, name), text)
      return join(home, name)
    })
    return (await json('threads', 'attach', thread, ...paths, '--as', who)).files as { file_id: string; name: string }[]
  }

  it('is looked into with all of its files beside the bundle, each as its hash says', async () => {
    const { thread, job } = await delivered()
    const files = await attach(thread, 'buyer')
    await buyer('dispute', thread, '--reason', 'A dog', '--evidence', files[0]?.file_id ?? '')
    const dir = join(home, 'evidence')
    const { saved, saved_files } = await json('admin', 'jobs', 'bundle', job, '--save', dir)
    expect(saved.file).toBe(join(dir, 'bundle.json'))
    expect(saved_files.map((one: { file: string }) => one.file)).toEqual(
      files.map(({ file_id, name }) => join(dir, `${file_id}-${name}`)),
    )
    expect(saved_files.map(({ file }: { file: string }) => readFileSync(file, 'utf8'))).toEqual(Object.values(texts))
    const modes = [dir, saved.file, ...saved_files.map(({ file }: { file: string }) => file)].map(
      (path) => statSync(path).mode & 0o777,
    )
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600])
    expect((await souk('admin', 'jobs', 'bundle', job, '--save', dir)).code).toBe(2)
    expect((await json('admin', 'jobs', 'bundle', job, '--save', dir, '--yes')).saved_files).toEqual(saved_files)
    const { code, out } = await souk('admin', 'jobs', 'bundle', job, '--save', join(home, 'unmade'), '--dry-run')
    expect([code, out, existsSync(join(home, 'unmade'))]).toEqual([0, expect.stringContaining('2 files'), false])
  })

  it('comes with what the marketplace signed for the purchase, which the operator verifies anew', async () => {
    const { thread, job } = await delivered()
    const { offer, receipt } = (await buyer('dispute', thread, '--reason', 'A dog')).job.dispute.proof
    const { spends } = await json('wallet', 'spend', 'buyer')
    expect(spends.map(({ proof }: { proof: object | null }) => proof)).toContainEqual(
      expect.objectContaining({ offer, receipt, job_id: job, thread_id: thread }),
    )
    const { proof } = await json('admin', 'jobs', 'bundle', job)
    expect(proof).toMatch(/^\$2\.10 to 0x\w+, paid \S+ in 0x\w+, signed by 0x\w+ \(this marketplace\)$/)
    expect((await souk('admin', 'jobs', 'bundle', job)).out).toContain(proof)
    const { job: second } = await delivered()
    const disputed = await json('jobs', 'dispute', second, '--reason', 'A cow', '--as', 'buyer')
    expect(disputed.dispute.proof.receipt.payload.transaction).not.toBe(receipt.payload.transaction)
  })

  it('tells its parties what happens to it by itself and when, and the operator what waits', async () => {
    const disputed = async () => {
      const { thread, job } = await delivered()
      const said = await souk('threads', 'dispute', thread, '--reason', 'A dog', '--as', 'buyer')
      const seen = async (who: string) => (await souk('jobs', 'view', job, '--as', who)).out
      return { job, said: said.out, seen }
    }
    const setDefault = (...words: string[]) => json('admin', 'disputes', 'default', ...words)
    expect(await setDefault()).toMatchObject({ disputes_default: null, changed: false })
    const waiting = await disputed()
    const waits = 'the operator decides, and the payment is held until then'
    for (const text of [waiting.said, await waiting.seen('buyer'), await waiting.seen('seller')]) {
      expect(text).toContain(waits)
    }
    const { checks } = await json('doctor')
    expect(checks.find(({ id }: { id: string }) => id === 'disputes')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/need your ruling, the oldest since /),
      fix: 'souk admin jobs list --status disputed',
    })
    const { url, admin_key } = await ofDaemon()
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${admin_key.trim()}` } })
    expect(await metrics.text()).toMatch(/souk_attention_items\{kind="undecided_dispute"\} [1-9]/)

    const set = { outcome: 'release', days: 7 }
    expect(await setDefault('release', '--days', '7')).toMatchObject({ disputes_default: set, changed: true })
    const timed = await disputed()
    const { dispute } = await json('jobs', 'view', timed.job, '--as', 'seller')
    const ends = `if the operator does not decide before ${dispute.decision.at}, the provider is paid`
    for (const text of [timed.said, await timed.seen('buyer')]) expect(text).toContain(ends)
    expect(await waiting.seen('buyer')).toContain(waits)
    expect(await setDefault('off')).toMatchObject({ disputes_default: null, changed: true })
    for (const job of [waiting.job, timed.job]) {
      await json('admin', 'jobs', 'resolve', job, '--outcome', 'refund', '--reason', 'It was a dog', '--yes')
    }
    expect(await timed.seen('seller')).toContain('refund, by the operator: It was a dog')
  })

  it.each([
    [['release'], 'After how many days?'],
    [['off', '--days', '3'], '--days needs'],
    [['split', '--days', '0'], 'days'],
    [['coin', '--days', '3'], 'coin'],
  ])('ends by itself in no way that nobody understands: %j', async (words, why) => {
    const { code, err } = await souk('admin', 'disputes', 'default', ...words)
    expect([code, err]).toEqual([2, expect.stringContaining(why)])
  })

  it('keeps no file that is another than the bundle says', async () => {
    const { thread, job } = await delivered()
    await attach(thread, 'seller')
    const { admin_key, url } = await ofDaemon()
    const liar = await forwarding(url, (text) => text.replaceAll(sha256(texts['dog.txt']), sha256('a cow')))
    try {
      await user.soukWith({ stdin: admin_key }, 'remote', 'add', 'liar', liar.url, '--admin-key-stdin')
      const dir = join(home, 'from-a-liar')
      const { code, err } = await souk('admin', 'jobs', 'bundle', job, '--save', dir, '--remote', 'liar')
      expect([code, err]).toEqual([1, expect.stringContaining('differs from the evidence bundle')])
      expect(readdirSync(dir).map((name) => name.slice('file_0123456789abcdef-'.length))).toEqual(['cat.txt'])
    } finally {
      await liar.close()
    }
  })

  it('is had by who bought without an account, who attaches and reads by the token of the purchase', async () => {
    await json('wallet', 'new', 'guest')
    await json('wallet', 'fund', 'guest', '--amount', '20.00')
    const listing = ['name=Sketch', 'description=Drawn', 'price=1.00', 'fulfillment_type=human']
    const { id } = await json('services', 'create', ...listing.flatMap((one) => ['--set', one]), '--as', 'seller')
    const guest = (...words: string[]) => json(...words, '--as', 'guest')
    const { job_id: job } = await guest('services', 'buy', id, '--yes', '--max-price', '2')
    const { thread_id: thread } = await guest('jobs', 'view', job)
    await guest('jobs', 'send', job, 'In colour, please')
    writeFileSync(join(home, 'sketch.json'), JSON.stringify({ picture: 'grey' }))
    await seller('update', thread, '--status', 'completed', '--deliverable', join(home, 'sketch.json'))
    const [file] = await attach(thread, 'guest')
    const disputed = await guest(
      'threads',
      'dispute',
      thread,
      '--reason',
      'It is grey',
      '--evidence',
      file?.file_id ?? '',
    )
    expect(disputed.job.dispute.evidence).toEqual([file?.file_id])
    expect((await guest('threads', 'view', thread)).messages.map((one: { type: string }) => one.type)).toContain('file')
    const into = join(home, 'mine.txt')
    await guest('threads', 'download', thread, file?.file_id ?? '', '-o', into)
    expect(readFileSync(into, 'utf8')).toBe('a cat')
    const { code, err } = await souk('threads', 'view', thread, '--as', 'buyer')
    expect([code, err]).toEqual([4, expect.stringContaining('does not belong to you')])
  })

  it('is seen, held and resolved by the administrator', async () => {
    const { thread, job } = await delivered()
    const disputed = await buyer('dispute', thread, '--reason', 'A dog', '--category', 'wrong_deliverable')
    expect([disputed.status, disputed.job.dispute.category]).toEqual(['disputed', 'wrong_deliverable'])
    const { jobs } = await json('admin', 'jobs', 'list', '--status', 'disputed')
    expect(jobs.map((one: { job_id: string }) => one.job_id)).toContain(job)
    const { holds } = await json('admin', 'holds', '--kind', 'esc')
    expect(holds).toContainEqual(expect.objectContaining({ account: `esc:${job}`, next_event: 'remind' }))
    const file = join(home, 'bundle.json')
    const { saved, schema_report } = await json('admin', 'jobs', 'bundle', job, '-o', file)
    const text = readFileSync(file, 'utf8')
    expect([saved.sha256, JSON.parse(text).job.dispute.reason, statSync(file).mode & 0o777]).toEqual([
      createHash('sha256').update(text).digest('hex'),
      'A dog',
      0o600,
    ])
    expect(schema_report.deliverables).toEqual({ ok: true, details: [] })
    const words = ['admin', 'jobs', 'resolve', job, '--outcome', 'split', '--buyer-amount', '1.05', '--reason', 'Half']
    expect((await souk(...words)).code).toBe(2)
    const { out } = await souk(...words, '--yes')
    const resolved = await json('jobs', 'view', job)
    expect(out).toContain('buyer gets $1.05, provider $1.00')
    expect(resolved).toMatchObject({
      status: 'released',
      escrow: { status: 'split' },
      dispute: { buyer_amount: '1.05' },
    })
    expect((await json('money', 'audit')).ok).toBe(true)
  })
})
