import { accountScenarios } from '../../fixtures/scenarios/account.ts'
import { participantScenarios } from '../../fixtures/scenarios/participants.ts'
import { profileScenarios } from '../../fixtures/scenarios/profiles.ts'
import { publicScenarios } from '../../fixtures/scenarios/public-pages.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'
import { statsScenarios } from '../../fixtures/scenarios/stats.ts'
import { traceScenarios } from '../../fixtures/scenarios/traces.ts'
import { verificationScenarios } from '../../fixtures/scenarios/verification.ts'

describeScenarios('Registration and participants', participantScenarios)
describeScenarios('Account', accountScenarios)
describeScenarios('Public pages', publicScenarios)
describeScenarios('Traces', traceScenarios)
describeScenarios('Profiles and identities', profileScenarios)
describeScenarios('Statistics', statsScenarios)
describeScenarios('Verification and export', verificationScenarios)
