import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { reputationScenarios } from './scenarios.testkit.ts'

describeScenarios('Reputation', reputationScenarios)
