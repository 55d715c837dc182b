import { testLawsOf } from "./law-tests.js";

testLawsOf("fixed-window");
testLawsOf("fixed-window-first-request");
