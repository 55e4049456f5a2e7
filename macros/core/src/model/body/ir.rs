//! A differentiable body: user statements in order, with every active call named.
//!
//! The body stays in the user's variables (shadowing and assignment mean what they mean in Rust); beside them each
//! active result has a [`Value`], the name of its cotangent. Nothing nests: an argument is a variable, a temporary or
//! plain code. Loops, branches and blocks hold a [`Region`] each, whose pullback is a closure of its own.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};

/// A float tensor, or a tuple or list of them, assigned once: it names a cotangent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Value(pub(crate) u32);

/// A variable of the user, or a temporary: what holds a value at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Var(pub(crate) u32);

/// A whole function.
pub(crate) struct Body {
    /// Whether it is the user's; otherwise it stands in for one with mistakes.
    pub(crate) sound: bool,
    pub(crate) region: Region,
    /// The value of each parameter that is active, in the order of the parameters.
    pub(crate) params: Vec<Option<Value>>,
    /// Names of all variables, by [`Var`].
    pub(crate) vars: Vec<Ident>,
    /// How many values there are.
    pub(crate) values: u32,
    /// The constants of the kernels that compute several statements.
    pub(crate) groups: Vec<TokenStream>,
    /// The plain method without such kernels, if there are any: in it, an editor finds every operation that the user wrote.
    pub(crate) unfused: Option<TokenStream>,
    pub(crate) proofs: Proofs,
    /// Dims that the body names: `let name = param.size(axis);`
    pub(crate) dims: Vec<(Ident, Ident, i64)>,
}

impl Body {
    /// The body of a function with mistakes: it has the right type and is never run.
    pub(super) fn never(function: &super::ast::Function) -> Body {
        let ty = &function.output.ty;
        let tokens = quote::quote!(::cotangent::__private::never::<#ty>());
        let result = Operand::Plain(Plain { tokens, uses: vec![] });
        Body {
            sound: false,
            region: Region { stmts: vec![], result: Some(result) },
            params: (0..)
                .zip(&function.params)
                .map(|(at, p)| (p.kind == super::ast::Kind::Active).then_some(Value(at)))
                .collect(),
            vars: vec![],
            values: 0,
            groups: vec![],
            unfused: None,
            proofs: Proofs::default(),
            dims: vec![],
        }
    }
}

/// A sequence of statements with a result.
#[derive(Default)]
pub(crate) struct Region {
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) result: Option<Operand>,
}

/// What stands where a value is used.
#[derive(Clone)]
pub(crate) enum Operand {
    /// An active value; `last` says that the variable is not used again, so that it can be moved, `at` where the user
    /// wrote its name.
    Active { value: Value, var: Var, last: bool, at: Option<Span> },
    /// Code without a derivative, and the variables that it mentions.
    Plain(Plain),
}

/// Code that is emitted as it is.
#[derive(Clone, Default)]
pub(crate) struct Plain {
    pub(crate) tokens: TokenStream,
    pub(crate) uses: Vec<Var>,
}

/// One statement.
pub(crate) enum Stmt {
    /// Code without a derivative.
    Plain(Plain),
    /// `let var = call;`
    Call(Call),
    /// Several operations that one kernel computes.
    Fused(Fused),
    /// `let var = operand;` or `var = operand;`: another holder of the same value.
    Move { var: Var, declare: Declare, from: Operand },
    /// `let (a, b) = from;` with one part an entry: a variable and, where active, its value.
    Unpack { from: Operand, parts: Vec<(Option<Var>, Option<Value>)> },
    /// `let var = (a, b);` or a list.
    Pack { var: Var, value: Value, parts: Vec<Operand>, list: bool },
    /// `list.push(item);`
    Push { list: Var, before: Value, after: Value, item: Operand },
    /// `let var = list.pop().unwrap();`
    Pop { list: Var, before: Value, after: Value, var: Var, value: Value, rest: TokenStream },
    /// `let var = list[index];` with the index in a local of its own.
    Element { list: Var, of: Value, index: Plain, var: Var, value: Value },
    /// `let var = tuple.at;`
    Part { tuple: Var, of: Value, at: syn::Index, var: Var, value: Value },
    /// `for pat in iter { body }`.
    For(For),
    /// `if`, `match` or a block.
    Branch(Branch),
}

impl Stmt {
    /// The call that it is.
    pub(super) fn call(&self) -> Option<&Call> {
        if let Stmt::Call(call) = self { Some(call) } else { None }
    }

    /// The call that it is.
    pub(super) fn call_mut(&mut self) -> Option<&mut Call> {
        if let Stmt::Call(call) = self { Some(call) } else { None }
    }
}

/// Operations that one kernel computes.
pub(crate) struct Fused {
    /// The path of the kernel's constant.
    pub(crate) kernel: TokenStream,
    /// What it reads: tensors and numbers.
    pub(crate) operands: Vec<Operand>,
    /// What is used of it, in the order of the kernel's outputs.
    pub(crate) outs: Vec<Made>,
    /// Where the last operation stands.
    pub(crate) span: Span,
}

/// A variable that a statement gives a value.
pub(crate) struct Made {
    pub(crate) var: Var,
    pub(crate) declare: Declare,
    pub(crate) value: Value,
}

/// How a variable comes to hold something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declare {
    Let,
    LetMut,
    Assign,
}

/// A call that has a companion.
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) args: Vec<Operand>,
    pub(crate) var: Var,
    pub(crate) declare: Declare,
    pub(crate) value: Value,
    /// Whether the pullback is kept in a box, so that its type does not hold that of the callee's.
    pub(crate) boxed: bool,
}

/// What is called.
pub(crate) enum Callee {
    /// A method of a tensor; `args[0]` is the receiver.
    Operation { name: Ident },
    /// `+ - * /`: the name of the trait's method; `args` are both sides.
    Operator { token: TokenStream, name: &'static str, trait_: &'static str },
    /// A method of a layer, or of the model itself.
    Layer { place: Place, name: Ident },
    /// A free function with a companion `path::vjp`.
    Function { path: syn::Path },
    /// An associated function of a type: `Tensor::cat(..)`, companion `Tensor::cat__vjp`.
    Associated { path: syn::Path },
    /// A bare field: a parameter, state or configuration.
    Read { place: Place },
}

/// A path that starts at `self`: it reads a model and, in the same steps, its gradient.
#[derive(Clone)]
pub(crate) struct Place {
    /// Code that evaluates to the place, without a leading `&`.
    pub(crate) code: TokenStream,
    /// Whether `code` is a reference already.
    pub(crate) reference: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) uses: Vec<Var>,
}

impl Place {
    /// The variable that the code begins with.
    pub(super) fn root(&self) -> Option<Ident> {
        match self.code.clone().into_iter().next() {
            Some(TokenTree::Ident(root)) => Some(root),
            _ => None,
        }
    }

    /// Whether another place is this one or a part of it, reached from a variable of the same name.
    pub(super) fn holds(&self, other: &Place) -> bool {
        let same = |(a, b): (&Step, &Step)| match (a, b) {
            (Step::Field(a), Step::Field(b)) | (Step::Index(a), Step::Index(b)) => a == b,
            (Step::Variant(_, a), Step::Variant(_, b)) => a == b,
            (Step::Some, Step::Some) => true,
            (Step::Field(_) | Step::Index(_) | Step::Variant(..) | Step::Some, _) => false,
        };
        self.root() == other.root()
            && self.steps.len() <= other.steps.len()
            && self.steps.iter().zip(&other.steps).all(same)
    }
}

/// One step of a place.
#[derive(Clone)]
pub(crate) enum Step {
    Field(Ident),
    /// An element, with the local that holds its position.
    Index(Ident),
    /// The inside of an `Option`.
    Some,
    /// The layer in a variant of a model enum: its path and its name.
    Variant(syn::Path, Ident),
}

/// A loop over a range or a list of layers.
pub(crate) struct For {
    /// `pat in iter`, with label and attributes.
    pub(crate) pat: TokenStream,
    pub(crate) iter: Plain,
    pub(crate) body: Region,
    pub(crate) carried: Vec<Carried>,
}

/// A variable that a loop reassigns.
pub(crate) struct Carried {
    pub(crate) var: Var,
    /// Before the loop, at the start and at the end of the body, and after the loop.
    pub(crate) before: Value,
    pub(crate) start: Value,
    pub(crate) end: Value,
    pub(crate) after: Value,
}

/// Alternatives, exactly one of which runs.
pub(crate) struct Branch {
    pub(crate) form: Form,
    pub(crate) arms: Vec<Arm>,
    /// What leaves the branch: reassigned variables, then the result.
    pub(crate) phis: Vec<Phi>,
    /// The variable that receives the result.
    pub(crate) result: Option<(Var, Declare)>,
}

/// The Rust form of a branch.
pub(crate) enum Form {
    If,
    Match(Plain),
    Block,
    /// A block that keeps what it starts from instead of residuals, and runs again when it is pulled.
    Checkpoint(Kept),
}

/// The variables from outside that a checkpoint names, each once and in the order of their names.
#[derive(Default)]
pub(crate) struct Kept {
    /// Those that it reads.
    pub(crate) read: Vec<Ident>,
    /// Those among them that hold active values: they are kept even where statements that read them become one that
    /// reads the same value of another variable.
    pub(crate) active: Vec<Var>,
    /// Those that it only assigns.
    pub(crate) assigned: Vec<Ident>,
    /// Parts of the model that some of those that it reads refer to.
    pub(crate) places: Vec<Place>,
}

/// One alternative.
pub(crate) struct Arm {
    /// `if` or `else if` condition, `match` pattern; empty for `else` and blocks.
    pub(crate) head: Plain,
    pub(crate) region: Region,
}

/// A value that depends on the alternative taken.
pub(crate) struct Phi {
    /// After the branch.
    pub(crate) out: Value,
    /// At the end of each arm; `None` where the arm's value has no derivative.
    pub(crate) arms: Vec<Option<Value>>,
}

/// What the shape engine is asked to prove, in order: constants that later ones name.
#[derive(Default)]
pub(crate) struct Proofs {
    pub(crate) items: Vec<TokenStream>,
    /// Names that annotations mention, in order of appearance; the model's own dims may be among them.
    pub(crate) names: Vec<Ident>,
    /// The methods that give the shapes of the layers' methods.
    pub(crate) methods: Vec<Ident>,
}
