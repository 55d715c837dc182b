import { testLawsOf } from "./law-tests.js";

testLawsOf("sliding-window");
testLawsOf("sliding-window-counter");
