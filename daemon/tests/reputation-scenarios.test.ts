import { reputationScenarios } from '../../fixtures/scenarios/reputation.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('Reputation', reputationScenarios)
