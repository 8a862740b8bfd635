import type { IncomingMessage, ServerResponse } from 'node:http'
import { text as textOfStream } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openUpstream } from '../../../ports/upstream/upstream.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import type { FirstPartyService, JsonInput } from '../service/service.ts'
import { grantApplicationChecklist } from './grant-application-checklist.ts'
import { grantEligibilityBrief } from './grant-eligibility-brief.ts'
import { grantMatches } from './grant-matches.ts'

const AT = Date.parse('2026-06-01T10:00:00Z')
let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

type Change = { readonly [member: string]: unknown }
const NONPROFIT = [{ id: '12', description: 'Nonprofits' }]

const notice = (id: number, title: string, change: Change = {}) => ({
  errorcode: 0,
  data: {
    id,
    opportunityNumber: `N-${id}`,
    opportunityTitle: title,
    synopsis: {
      agencyName: 'Department of Ponds',
      synopsisDesc: `<p>This program is about ${title}.</p>`,
      responseDateStr: '2026-09-01-00-00-00',
      postingDate: '05/01/2026',
      costSharing: false,
      awardCeiling: '100000',
      awardFloor: 'none',
      applicantTypes: NONPROFIT,
      applicantEligibilityDesc: '&lt;p&gt;Applicants should care.&lt;/p&gt;',
      ...change,
    },
  },
})

/** One that is announced: it has a forecast in the place of a synopsis, with days that it expects. */
const forecast = (id: number, title: string, change: Change = {}) => {
  const { data, ...rest } = notice(id, title)
  const { synopsis, ...common } = data
  const { responseDateStr: _, synopsisDesc: forecastDesc, ...kept } = synopsis
  return { ...rest, data: { ...common, forecast: { ...kept, forecastDesc, ...change } } }
}
type Served = ReturnType<typeof notice> | ReturnType<typeof forecast>

function serve(notices: readonly Served[], agency = 'Department of Ponds'): void {
  site.pages['/api/search2'] = (_: IncomingMessage, res: ServerResponse) => {
    const oppHits = notices.map(({ data }, at) => ({
      id: String(data.id),
      title: data.opportunityTitle,
      // Its documentation says one name, its answers the other.
      ...(at % 2 === 0 ? { agencyName: agency } : { agency }),
    }))
    res.end(JSON.stringify({ errorcode: 0, data: { hitCount: oppHits.length, oppHits } }))
  }
  site.pages['/api/fetchOpportunity'] = async (req: IncomingMessage, res: ServerResponse) => {
    const { opportunityId } = JSON.parse(await textOfStream(req))
    res.end(JSON.stringify(notices.find(({ data }) => data.id === opportunityId) ?? { errorcode: 1, data: null }))
  }
}

const run = (service: FirstPartyService, input: JsonInput) => {
  const grants = openUpstream({
    web: site.web({ exempt: () => false }),
    wall: () => AT,
    name: 'It',
    base: site.at('/api'),
    fix: 'nothing',
  })
  return delivered({ service, input, means: { engines: { grants }, now: () => AT } })
}
const profile = 'A nonprofit that restores wetlands and habitats for ducks'

describe('matches of funding', () => {
  it('puts the notice on the topic first, and says why others are out', async () => {
    const others = Array.from({ length: 26 }, (_, at) => notice(100 + at, `Highway bridges lot ${at}`))
    serve([
      ...others,
      notice(1, 'Restoration of wetlands and duck habitats'),
      notice(2, 'Wetlands and ducks, closed', { responseDateStr: '2026-05-01-00-00-00' }),
      notice(3, 'Wetlands habitats, soon over', { responseDateStr: '2026-06-05-00-00-00' }),
      notice(4, 'Wetlands habitats for tribes', { applicantTypes: [{ id: '07', description: 'Tribes' }] }),
    ])
    const { grant_matches } = await run(grantMatches, { profile, keywords: ['wetlands'] })
    expect(grant_matches.matches[0]).toMatchObject({
      opportunity_id: '1',
      eligibility: 'match',
      closes_at: '2026-09-01',
      days_left: 92,
      award_floor: null,
      award_ceiling: 100_000,
    })
    expect(grant_matches.matches).toHaveLength(1)
    const out = Object.fromEntries(
      grant_matches.excluded.map(({ opportunity_id, reason }: Record<string, string>) => [opportunity_id, reason]),
    )
    expect(out).toEqual({
      2: 'The notice is closed.',
      3: '4 days are left; you need 14.',
      4: 'Only other applicant types are eligible.',
    })
    expect(grant_matches).toMatchObject({ searched: 30, engine: { kind: 'upstream' } })
  })

  it('takes no ceiling for none, and a budget against what there is', async () => {
    serve([
      notice(1, 'Wetlands without a ceiling', { awardCeiling: 'none', awardFloor: '5000' }),
      notice(2, 'Wetlands with a ceiling', { awardCeiling: '$50,000', awardFloor: null }),
    ])
    const { grant_matches } = await run(grantMatches, { profile, project_budget_usd: 60_000 })
    expect(grant_matches.matches).toEqual([
      expect.objectContaining({ opportunity_id: '1', award_floor: 5_000, award_ceiling: null }),
    ])
    expect(grant_matches.excluded).toEqual([
      expect.objectContaining({ opportunity_id: '2', reason: 'The budget is above the largest award.' }),
    ])
  })

  it.each(['', ' ', '1 2 3', 'a b'])('with nothing to search by (%j) are refused before anything is paid', (none) => {
    expect(() => grantMatches.check({ profile: none, keywords: [' '] }, {})).toThrow(/^profile: /)
    expect(() => grantMatches.check({ profile: none, keywords: ['wetlands'] }, {})).not.toThrow()
    expect(() => grantMatches.check({ profile: 'Bog NGO' }, {})).not.toThrow()
  })

  it('holds to the agency and the number that were asked for, and fails where none fits', async () => {
    serve([notice(1, 'Wetlands'), notice(2, 'Wetlands two', { agencyName: 'Office of Rain' })])
    const { grant_matches } = await run(grantMatches, { profile, agency: 'rain', limit: 1 })
    expect(grant_matches.matches.map(({ opportunity_id }: { opportunity_id: string }) => opportunity_id)).toEqual(['2'])
    serve([])
    await expect(run(grantMatches, { profile })).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it.each([0, 1])('reads those of the agency first, under either name that it goes by (%d)', async (at) => {
    const others = Array.from({ length: 20 + at }, (_, n) =>
      notice(100 + n, 'Restoration of wetlands', { agencyName: 'A' }),
    )
    const own = notice(1, 'Rain barrels', { agencyName: 'Office of Rain' })
    serve([...others, own])
    const search = site.pages['/api/search2'] as (req: IncomingMessage, res: ServerResponse) => void
    site.pages['/api/search2'] = (req: IncomingMessage, res: ServerResponse) => {
      const end = res.end.bind(res)
      res.end = ((text: string) =>
        end(text.replace(/"Department of Ponds"(?=}]}})/, '"Office of Rain"'))) as typeof res.end
      search(req, res)
    }
    const { grant_matches } = await run(grantMatches, { profile, agency: 'rain' })
    expect(grant_matches.matches.map((one: { opportunity_id: string }) => one.opportunity_id)).toEqual(['1'])
    // The best of what was found, and no fit all the same.
    expect(grant_matches.matches[0]).toMatchObject({
      score: expect.toSatisfy((score: number) => score < 60),
      cautions: [expect.stringContaining('few words')],
    })
  })

  it('says what a notice has in common with the profile, whether in HTML or in HTML that was escaped once more', async () => {
    serve([
      notice(1, 'Program one', { synopsisDesc: '<div>For <b>wetlands</b> &amp; <i>habitats</i></div>' }),
      notice(2, 'Program two', {
        synopsisDesc: '&lt;div&gt;For &lt;b&gt;wetlands&lt;/b&gt;&amp;nbsp;and ducks&lt;/div&gt;',
      }),
    ])
    const { grant_matches } = await run(grantMatches, { profile })
    const reasons = Object.fromEntries(
      grant_matches.matches.map((one: { opportunity_id: string; reasons: string[] }) => [
        one.opportunity_id,
        one.reasons[0],
      ]),
    )
    expect(reasons).toEqual({
      1: 'The notice shares words with your profile: wetlands, habitats.',
      2: 'The notice shares words with your profile: wetlands, ducks.',
    })
    expect(JSON.stringify(grant_matches)).not.toMatch(/<|&lt;/)
  })

  it('says that a forecast is one, with the day that it expects', async () => {
    serve([forecast(1, 'Wetlands of tomorrow', { estApplicationResponseDateStr: '2026-11-01-00-00-00' })])
    const { grant_matches } = await run(grantMatches, { profile })
    expect(grant_matches.matches).toEqual([
      expect.objectContaining({
        status: 'forecasted',
        closes_at: '2026-11-01',
        cautions: [expect.stringContaining('a forecast')],
      }),
    ])
  })

  it('searches for the phrases of what is done, not for the longest words', async () => {
    serve([notice(1, 'Coral reefs', { applicantTypes: [] })])
    const { grant_matches: made } = await run(grantMatches, {
      profile: 'State natural resource agency of Hawaii that monitors coral reefs',
    })
    expect(made.query.terms).toEqual(['coral reefs', 'hawaii'])
  })

  it('charges nothing when the search is down', async () => {
    site.pages['/api/search2'] = { status: 500 }
    await expect(run(grantMatches, { profile })).rejects.toMatchObject({ code: 'provider_failed' })
  })
})

describe('the checklist of an application', () => {
  it('counts days back from the closing date, on working days', async () => {
    serve([
      notice(1, 'Wetlands', {
        costSharing: 'Y',
        applicantEligibilityDesc: 'You must be registered in Ohio. Be kind.',
        synopsisDesc: '<p>Ducks must swim. Letters of intent are required.</p>',
      }),
    ])
    const { grant_application_checklist: made } = await run(grantApplicationChecklist, {
      opportunity_id: '1',
      days_needed_to_apply: 20,
    })
    const due = Object.fromEntries(made.items.map(({ id, due }: Record<string, string>) => [id, due]))
    // 1 September is a Tuesday: two days before is a Sunday, so the Friday; 42 before is 21 July.
    expect(due).toMatchObject({
      submission: '2026-08-28',
      registration: '2026-07-21',
      narrative: '2026-08-24',
      cost_share: '2026-08-21',
    })
    for (const source of ['You must be registered in Ohio.', 'Letters of intent are required.'])
      expect(made.items).toContainEqual(expect.objectContaining({ evidence_kind: 'text', source }))
    expect(JSON.stringify(made)).not.toContain('Ducks must swim.')
    expect(made.items.map((item: { due: string }) => item.due)).toEqual(Object.values(due).toSorted())
    expect(made).toMatchObject({ days_left: 92, warnings: [] })
  })

  it('has the dates that the notice sets for earlier steps, and the office rather than its contact', async () => {
    const synopsisDesc =
      '<p>PROJECT LISTS must be submitted by Friday, May 1, 2026.</p><p>PRE-APPLICATIONS are due no later than 11:59 p.m. on Wednesday, July 8, 2026.</p>'
    const applicantTypes = [{ id: '25', description: 'Others (see text field)' }]
    const applicantEligibilityDesc = 'Eligibility is restricted to U.S. universities (06). Be kind.'
    const own = notice(1, 'Reefs', { synopsisDesc, applicantTypes, applicantEligibilityDesc, agencyName: 'Ada Byron' })
    const offices = { topAgencyDetails: { agencyName: 'Ponds' }, agencyDetails: { agencyName: 'Office of Reefs' } }
    serve([{ ...own, data: { ...own.data, ...offices } }])
    const { grant_application_checklist: made } = await run(grantApplicationChecklist, { opportunity_id: '1' })
    expect(made).toMatchObject({
      agency: 'Ponds, Office of Reefs',
      warnings: ['The notice names a date that has passed.'],
    })
    const dated = made.items.filter(({ id }: { id: string }) => id.startsWith('date_'))
    expect(dated.map(({ due }: { due: string }) => due)).toEqual(['2026-05-01', '2026-07-08'])
    expect(made.items).toContainEqual(
      expect.objectContaining({ id: 'requirement_1', source: 'Eligibility is restricted to U.S. universities (06).' }),
    )
    expect(made.items).toContainEqual(
      expect.objectContaining({ id: 'eligibility', task: 'Read in the eligibility text whether you may apply' }),
    )
  })

  it('is never due in the past, and without a closing date has only the days that the notice names, first', async () => {
    serve([
      notice(1, 'Wetlands', { responseDateStr: '2026-06-10-00-00-00' }),
      notice(2, 'Reefs', { responseDateStr: undefined, synopsisDesc: 'Ask by July 8, 2026. Go by June 2, 2026.' }),
    ])
    const { grant_application_checklist: late } = await run(grantApplicationChecklist, { opportunity_id: '1' })
    expect([late.items[0].due, late.warnings.join(' ')]).toEqual(['2026-06-01', expect.stringContaining('9 days')])
    const { grant_application_checklist: open } = await run(grantApplicationChecklist, { opportunity_id: '2' })
    const [first, second, ...others] = open.items.map(({ due }: { due: unknown }) => due)
    expect([first, second, others.every((due: unknown) => due === null)]).toEqual(['2026-06-02', '2026-07-08', true])
  })

  it.each<[string, Change, string | null]>([
    ['without a day has no days', {}, null],
    [
      'with a day that it expects counts back from it',
      { estApplicationResponseDate: 'Nov 02, 2026 12:00:00 AM EST' },
      '2026-10-30',
    ],
  ])('of a forecast %s, and says what it is', async (_, change, submission) => {
    serve([forecast(1, 'Wetlands', change)])
    const { grant_application_checklist: made } = await run(grantApplicationChecklist, { opportunity_id: '1' })
    expect(made.items.find(({ id }: { id: string }) => id === 'submission').due).toBe(submission)
    expect(made.warnings[0]).toContain('is a forecast')
  })

  it.each([[[]], [[notice(9, 'Over', { responseDateStr: '2026-05-01' })]]])('of %j fails', async (served) => {
    serve(served)
    const asked = run(grantApplicationChecklist, { opportunity_id: '9' })
    await expect(asked).rejects.toMatchObject({ code: 'provider_failed' })
  })
})

describe('what one notice comes to', () => {
  it.each<[string, Change, JsonInput, string]>([
    ['fits', {}, {}, 'go'],
    ['is closed', { responseDateStr: '2026-01-01-00-00-00' }, {}, 'no_go'],
    ['is nearly over', { responseDateStr: '2026-06-05-00-00-00' }, {}, 'no_go'],
    ['is for others', { applicantTypes: [{ id: '07', description: 'Tribes' }] }, {}, 'no_go'],
    ['awards less', {}, { project_budget_usd: 500_000 }, 'no_go'],
    ['is for anyone', { applicantTypes: [{ id: '99', description: 'Unrestricted' }] }, {}, 'go'],
    ['names a place', { applicantEligibilityDesc: 'Applicants must be located in Ohio.' }, {}, 'unclear'],
    ['names no date', { responseDateStr: undefined }, {}, 'unclear'],
    ['asks for a share', { costSharing: 'Yes' }, {}, 'go'],
    ['awards more than is wanted', { awardFloor: '50000' }, { project_budget_usd: 1_000 }, 'unclear'],
    [
      'is limited to others in the same field',
      {
        applicantEligibilityDesc: 'Applicants are limited to State agencies that restore wetlands in coastal counties.',
      },
      {},
      'unclear',
    ],
    ['names a place that the profile names', { applicantEligibilityDesc: 'Work must be on wetlands.' }, {}, 'go'],
    [
      'is on something else',
      { synopsisDesc: 'Highways' },
      { profile: 'A nonprofit that teaches chess to children' },
      'unclear',
    ],
    [
      'states its largest award in the text only',
      {
        awardCeiling: 'none',
        applicantEligibilityDesc:
          'Maximum Award: We will reject any application that proposes a budget exceeding $1.5 million for a project.',
      },
      { project_budget_usd: 2_000_000 },
      'no_go',
    ],
    [
      'states a range in the text only',
      { awardCeiling: null, synopsisDesc: 'Wetlands and habitats. Grants range from $5,000 to $20,000 each.' },
      { project_budget_usd: 3_000 },
      'unclear',
    ],
    [
      'has a total above the budget, and a smaller award',
      {
        awardCeiling: null,
        synopsisDesc:
          'Wetlands and habitats. Awards of up to $9,000 are made; a total of $90,000 is available for all awards in total.',
      },
      { project_budget_usd: 8_000 },
      'go',
    ],
    [
      'excludes such applicants',
      {
        applicantTypes: [{ id: '25', description: 'Others' }],
        applicantEligibilityDesc: 'Nonprofit organizations are not eligible to apply.',
      },
      {},
      'no_go',
    ],
    [
      'may be sent in by others only',
      {
        applicantTypes: [{ id: '25', description: 'Others' }],
        applicantEligibilityDesc: 'Eligibility is limited to State agencies.',
      },
      {},
      'no_go',
    ],
    ['has a limit', { applicantEligibilityDesc: 'Only nonprofits with 50 staff may apply.' }, {}, 'unclear'],
    ['says no kinds of applicants', { applicantTypes: null }, {}, 'unclear'],
  ])('of a notice that %s', async (...[, change, input, decision]) => {
    const own = notice(1, 'Restoration of wetlands and habitats', change)
    serve([own])
    const { grant_eligibility_brief: made } = await run(grantEligibilityBrief, {
      opportunity_id: '1',
      profile,
      ...input,
    })
    expect(made.decision).toBe(decision)
    const silent = made.reasons.filter(
      ({ evidence }: { evidence: { quote: string | null } }) => evidence.quote === null,
    )
    for (const { verdict } of silent) expect(verdict).toBe('open')
    for (const { evidence } of made.reasons.filter((one: object) => !silent.includes(one))) {
      expect(JSON.stringify(own)).toContain(evidence.quote)
    }
    expect(made.reason_lines).toHaveLength(made.reasons.length)
  })

  it('quotes whole sentences, also over lines and after abbreviations', async () => {
    const applicantEligibilityDesc =
      'Applicants must be a Ph.D. student<br>under 42 U.S.C. 1396 et seq. and live in the U.S. Department of Ponds area.'
    serve([notice(1, 'Wetlands and habitats', { applicantEligibilityDesc })])
    const { grant_eligibility_brief: made } = await run(grantEligibilityBrief, { opportunity_id: '1', profile })
    const quotes = made.reasons.map(({ evidence }: { evidence: { quote: string } }) => evidence.quote)
    expect(quotes).toContain(applicantEligibilityDesc.replace('<br>', ' '))
  })

  it('of a forecast is never to go ahead, since nothing can be sent in', async () => {
    serve([forecast(1, 'Restoration of wetlands and habitats', { estApplicationResponseDateStr: '2026-11-01' })])
    const { grant_eligibility_brief: made } = await run(grantEligibilityBrief, { opportunity_id: '1', profile })
    expect(made.decision).toBe('unclear')
    expect(made.open_questions[0]).toContain('a forecast')
  })
})
