import { defineCommand } from '../../src/cli/command.ts'
import { unjudged } from '../../src/cli/files/document.ts'
import { inputOptions, readInput } from '../../src/cli/nouns/services/input.ts'
import { askedMembers } from '../../src/cli/nouns/services/input-form.ts'
import * as z from '../../src/cli/params.ts'
import { pay, quote } from '../../src/cli/wallet/paying.ts'
import { agreedTo } from '../../src/cli/wallet/signing-in.ts'
import type { SentBody } from '../../src/client/asked.ts'
import { wordsOf } from '../../src/client/call.ts'
import { formatPrice } from '../../src/core/money.ts'
import { namedSlugs } from '../../src/model/service.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

/** API operations by advertised path. */
const endpoints = {
  'site-audit': 'siteAudit',
  'security-patch': 'securityPatch',
  'content-write': 'contentWrite',
  'seo-optimize': 'seoOptimize',
  'design-update': 'designUpdate',
  'maintenance-plan': 'maintenancePlan',
} as const

const options = z.object({
  ...inputOptions,
  quote: z.flag({ description: 'show the price and exit; pays nothing' }),
  interactive: z.flag({ description: 'ask for the input, then confirm the price' }),
})

export const command = defineCommand({
  name: 'services advertised',
  summary: 'buy from an advertised path, such as site-audit',
  pays: 'siteAudit',
  description: 'Works only for paths to which the operator gave a listing. See `souk admin named-services`.',
  args: z.object({ slug: z.enum(namedSlugs).meta({ description: 'last part of the path, such as site-audit' }) }),
  options,
  examples: [
    'souk services advertised site-audit -i url=https://example.org --dry-run',
    'souk services advertised maintenance-plan --dry-run --json',
  ],
  async run(context) {
    const { slug } = context.args
    // The path does not tell which listing it sells, so only the instance can check the input.
    const given = await readInput(context.io, {}, context.options)
    const input = context.options.interactive ? await askedMembers(context.io, given.input) : given.input
    const session = await context.session()
    const asked = { body: unjudged<SentBody<'siteAudit'>>(input) }
    if (context.options.quote) {
      const offer = await quote(session, wordsOf(endpoints[slug], asked))
      return { slug, price: offer === undefined ? '$0.00' : formatPrice(offer.price), answer: null }
    }
    const what = { ...wordsOf(endpoints[slug], asked), title: `buy ${slug}`, input }
    const host = context.options.interactive ? await agreedTo(context, session, what) : context
    const { answer, payment } = await pay(host, session, { endpoint: endpoints[slug], asked })
    return { slug, price: formatPrice(payment.amount), answer }
  },
  view({ slug, price, answer }, io) {
    if (answer === null) {
      io.line(`402  ${bold(slug)} costs ${bold(price)}`)
      io.note(`  next: ${cyan(io.hint('… without --quote'))}`)
      return
    }
    io.line(`${green('✓')} paid ${bold(price)} for ${slug}`)
    if ('job_id' in answer) io.note(`  next: ${cyan(io.hint(`souk jobs view ${answer.job_id}`))}`)
    else io.note(`  next: ${cyan(io.hint('souk subs list'))}`)
  },
})
