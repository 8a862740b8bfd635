import type { Line, Scenario } from '../../../fixtures/scenarios/scenario.ts'
import type { Step } from '../../../fixtures/scenarios/steps.ts'
import type { NamedService } from '../../../src/api/sections/named-services.ts'

const body = { text: 'one two three' }

type Named = { readonly row: Scenario['row']; readonly slug: NamedService; readonly amount: string }

const job = { status: 'dispatched', service_id: '$listing' }
const subscription = { status: 'active', plan_id: '$plan' }

/** Advertised paths, each with what its listing costs in these scenarios. */
const advertised: readonly Named[] = [
  { row: 'siteAudit', slug: 'site-audit', amount: '5.00' },
  { row: 'securityPatch', slug: 'security-patch', amount: '10.00' },
  { row: 'contentWrite', slug: 'content-write', amount: '50.00' },
  { row: 'seoOptimize', slug: 'seo-optimize', amount: '50.00' },
  { row: 'designUpdate', slug: 'design-update', amount: '50.00' },
  { row: 'maintenancePlan', slug: 'maintenance-plan', amount: '50.00' },
]

function linesOf({ row, slug, amount }: Named): Line[] {
  const isPlan = slug === 'maintenance-plan'
  const bought = isPlan ? subscription : job
  const sold: Step = `${slug} is sold`
  return [
    {
      row,
      kind: 'wrong_state',
      that: 'what nobody sells there is not there',
      given: [`${slug} is off again`],
      request: { as: 'buyer', body },
      expect: { status: 404, code: 'not_found' },
    },
    {
      row,
      kind: 'success',
      that: 'what stands behind the path is bought',
      given: [sold],
      request: { as: 'buyer', body },
      expect: { status: 200, body: { ...bought, amount } },
    },
    {
      row,
      kind: 'wrong_role',
      that: 'its provider does not buy it',
      given: [sold],
      request: { as: 'provider', body },
      expect: { status: 409, code: 'conflict' },
    },
    isPlan ? { row, kind: 'bad_input', exempt: 'a subscription takes no input' } : badInput(row, sold),
  ]
}

function badInput(row: Scenario['row'], sold: Step): Scenario {
  return {
    row,
    kind: 'bad_input',
    that: 'input that the listing does not take costs nothing',
    given: [sold],
    request: { as: 'buyer', body: { text: 3 } },
    expect: { status: 400, code: 'input_invalid', field: 'text' },
  }
}

/** Named services of the specification: aliases that the operator configures. */
export const namedScenarios: readonly Line[] = advertised.flatMap(linesOf)
