/// Defines `Bound`, a parameter as one of these types, each encoded as sqlx encodes it.
///
/// `$unknown`: the type of the parameter where sqlx asks for one that all have.
#[macro_export]
macro_rules! sqlx_bound {
    ($db:ty, $unknown:expr, $($name:ident($of:ty)),+ $(,)?) => {
        #[derive(Debug)]
        enum Bound {
            /// With the type that it is sent as, where there is one.
            Null(Option<<$db as sqlx::Database>::TypeInfo>),
            $($name($of),)+
        }

        $(impl From<$of> for Bound {
            fn from(value: $of) -> Bound {
                Bound::$name(value)
            }
        })+

        impl sqlx::Encode<'_, $db> for Bound {
            fn encode_by_ref(
                &self,
                to: &mut <$db as sqlx::Database>::ArgumentBuffer,
            ) -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {
                match self {
                    Bound::Null(_) => Ok(sqlx::encode::IsNull::Yes),
                    $(Bound::$name(value) => sqlx::Encode::<$db>::encode_by_ref(value, to),)+
                }
            }

            fn produces(&self) -> Option<<$db as sqlx::Database>::TypeInfo> {
                match self {
                    Bound::Null(of) => of.clone(),
                    $(Bound::$name(_) => Some(<$of as sqlx::Type<$db>>::type_info()),)+
                }
            }
        }

        impl sqlx::Type<$db> for Bound {
            fn type_info() -> <$db as sqlx::Database>::TypeInfo {
                $unknown
            }
        }
    };
}
