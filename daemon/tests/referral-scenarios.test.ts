import { referralScenarios } from '../../fixtures/scenarios/referrals.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('Earnings and referrals', referralScenarios)
