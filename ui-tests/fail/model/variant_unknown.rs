//! Scenario: a variant that an enum does not have, and a field that names none.

use cotangent::prelude::*;

#[model(dims(C))]
enum Stage {
    Fc(Linear![C => C]),
    Act(Relu),
}

#[model]
struct Net {
    #[init(Stage::Conv![3])]
    a: Stage,
    b: Stage![3],
    #[init(Stage::Fc![3, D = 4], Stage::Act)]
    list: Vec<Stage>,
}

fn main() {}
